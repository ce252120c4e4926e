"""Since when each line of ``skips.py`` is as it is, as git has it."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Commit", "blame"]

_LIMIT: Final = 10.0


@dataclass(frozen=True)
class Commit:
    """The commit that gave a line its present text.

    Attributes:
        sha: Its hash.
        date: The day it was written, UTC.
        author: Who wrote it.
        summary: Its first line.
    """

    sha: str
    date: datetime.date
    author: str
    summary: str

    def __str__(self) -> str:
        return f"{self.date} {self.sha[:9]} {self.summary} ({self.author})"


def blame(path: Path) -> Mapping[int, Commit] | None:
    """The commit of each line; a line that is not committed has none.

    Returns:
        None where nobody can say: there is no git, no repository, or the file is not in it.
    """
    file = path.resolve()  # a link has the history of what it leads to
    command = ["git", "blame", "--porcelain", "-w", "-M", "--", file.name]
    try:
        ended = subprocess.run(
            command,
            cwd=file.parent,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if ended.returncode:
        return None
    return _parsed(ended.stdout.decode("utf-8", "replace").split("\n"))


def _parsed(lines: Iterable[str]) -> Mapping[int, Commit]:
    """Read git's porcelain format: a header for each line, facts where a commit is new."""
    facts: dict[str, dict[str, str]] = {}
    line_commits: dict[int, str] = {}
    sha = ""
    is_header = True
    for line in lines:
        if line.startswith("\t"):
            is_header = True
        elif is_header and line:
            sha, _, number, *_ = line.split(" ")
            line_commits[int(number)] = sha
            is_header = False
        else:
            name, _, value = line.partition(" ")
            facts.setdefault(sha, {})[name] = value
    commits = {sha: _commit(sha, found) for sha, found in facts.items() if sha.strip("0")}
    return {number: commits[sha] for number, sha in line_commits.items() if sha in commits}


def _commit(sha: str, facts: Mapping[str, str]) -> Commit:
    moment = datetime.datetime.fromtimestamp(int(facts["author-time"]), datetime.timezone.utc)
    return Commit(sha, moment.date(), facts["author"], facts["summary"])
