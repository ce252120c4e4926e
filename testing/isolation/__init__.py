"""Run a function in a child process that may die in any way, and learn how it ended.

Nothing here knows of cases, backends or pytest: a target is ``"module:function"``, called with
a JSON payload and a function that reports stages, and what it returns comes back as JSON.
"""

from __future__ import annotations

from testing.isolation.client import ForkServer, Task
from testing.isolation.modules import ModuleSpec, load_module
from testing.isolation.report import ChildError, ChildReport, Ending, Frame

__all__ = [
    "ChildError",
    "ChildReport",
    "Ending",
    "ForkServer",
    "Frame",
    "ModuleSpec",
    "Task",
    "load_module",
]
