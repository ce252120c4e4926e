"""The pytest plugin: each module beside this one has the hooks of one thing."""

from __future__ import annotations

__all__: list[str] = []

pytest_plugins = [
    "testing.plugin.options",
    "testing.plugin.run",
    "testing.plugin.selection",
    "testing.plugin.collecting",
    "testing.plugin.status",
    "testing.plugin.recording",
    "testing.plugin.disk",
    "testing.plugin.interrupt",
    "testing.plugin.crashes",
    "testing.plugin.transport",
    "testing.plugin.live",
    "testing.plugin.summary",
    "testing.plugin.left_out",
]
