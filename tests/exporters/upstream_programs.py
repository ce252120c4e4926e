"""The programs of docs/upstream.md, and what runs one in a child."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

NOTES = Path(__file__).parents[2] / "docs" / "upstream.md"
_SECTION = re.compile(r"^### `(aten::[\w.]+)`\n(.*?)^```python\n(.*?)^```", re.M | re.S)


def programs() -> dict[str, str]:
    """The program of each op."""
    return {op: code for op, _, code in _SECTION.findall(NOTES.read_text())}


def run(code: str, report: Callable[[str], None]) -> None:
    report("export")
    exec(compile(code, str(NOTES), "exec"), {})
