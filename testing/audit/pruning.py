"""Takes out of ``skips.py`` what the last audit has found to be stale, and nothing else."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testing.audit.errors import AuditError, NoAuditError, OtherVersionsError
from testing.audit.inheriting import Succession, inherited, succession
from testing.audit.verdicts import Verdict
from testing.registry import Entry, SkipFileError
from testing.registry.audits import AuditFinding, Audits
from testing.registry.edits import Edit, Remove, Repoint
from testing.registry.skip_file import Contents, parse, read

__all__ = ["Pruning", "prune"]

_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


@dataclass(frozen=True)
class Pruning:
    """A file before and after.

    Attributes:
        path: The file.
        before: Its bytes.
        after: Its bytes without what is stale.
        removed: The entries that go.
        succession: What becomes of reasons that refer to them.
        outdated: Entries that were stale with other versions than those installed; they stay.
    """

    path: Path
    before: bytes
    after: bytes
    removed: tuple[Entry, ...]
    succession: Succession
    outdated: tuple[Entry, ...] = ()

    @property
    def diff(self) -> str:
        """A unified diff; empty where nothing goes."""
        before, after = (d.decode().splitlines(keepends=True) for d in (self.before, self.after))
        name = self.path.as_posix().lstrip("/")
        lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
        return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)

    def apply(self) -> None:
        """Write the file.

        Raises:
            SaveError: It is read-only or has changed since it was read; it is as it was.
        """
        from testing.registry.saving import save

        save(self.path, self.before, self.after)


def prune(path: Path, audits: Audits, versions: Mapping[str, str]) -> Pruning:
    """What is left of a file without its stale entries.

    Args:
        path: The file.
        audits: What audits have found.
        versions: What is installed.

    Raises:
        AuditError: Nothing was audited, or nothing with these versions.
        SkipFileError: The file has problems.
    """
    _require_readable(audits)
    contents = _contents(path)
    current = _of_versions(audits, versions)
    stale = tuple(entry for entry in contents.entries if _is_stale(entry, current))
    outdated = tuple(
        entry
        for entry in contents.entries
        if _is_stale(entry, audits) and current.last_of(entry) is None
    )
    after_them = succession(contents.entries, stale)
    after = _without(contents, stale, after_them)
    before = contents.text.encode("utf-8")
    return Pruning(path, before, after.encode("utf-8"), stale, after_them, outdated)


def _require_readable(audits: Audits) -> None:
    if audits.unreadable:
        raise AuditError(f"cannot be read: {'; '.join(audits.unreadable)}; delete it, audit again")
    if not audits.findings:
        raise NoAuditError("nothing was audited yet; run `export-harness skips audit` first")


def _contents(path: Path) -> Contents:
    contents = read(path)
    if contents.problems:
        raise SkipFileError(path, contents.problems)
    return contents


def _of_versions(audits: Audits, versions: Mapping[str, str]) -> Audits:
    """The findings with these versions.

    Raises:
        OtherVersionsError: There are none.
    """
    found = tuple(finding for finding in audits.findings if finding.versions == versions)
    if not found:
        told = _difference(audits.findings[0], versions)
        raise OtherVersionsError(
            f"the last audit was of other versions ({told}); run `export-harness skips audit` here"
        )
    return Audits(found)


def _difference(finding: AuditFinding, versions: Mapping[str, str]) -> str:
    names = sorted({*finding.versions, *versions})
    return ", ".join(
        f"{name} {finding.versions.get(name, 'absent')}, here {versions.get(name, 'absent')}"
        for name in names
        if finding.versions.get(name) != versions.get(name)
    )


def _is_stale(entry: Entry, audits: Audits) -> bool:
    last = audits.last_of(entry)
    return last is not None and last.verdict == Verdict.STALE.value


def _without(contents: Contents, stale: Sequence[Entry], after_them: Succession) -> str:
    """The text without the stale entries.

    Raises:
        AuditError: Something else would have changed.
    """
    if not stale:
        return contents.text
    from testing.registry.rewriting import rewritten

    text = rewritten(contents.text, _edits(stale, after_them))
    text = inherited(contents, text, after_them.heirs)
    expected = {_identity(entry) for entry in contents.entries if entry not in stale}
    left = parse(contents.path, text.encode("utf-8"))
    if left.problems or {_identity(entry) for entry in left.entries} != expected:
        raise AuditError(f"{contents.path} could not be pruned safely and was left as it is")
    return text


def _edits(stale: Sequence[Entry], after_them: Succession) -> Iterator[Edit]:
    yield from (Remove(entry.place) for entry in stale)
    for entry, (old, new) in after_them.repointed.items():
        yield Repoint(entry.place, old, new)


def _identity(entry: Entry) -> tuple[str, str, str]:
    return entry.table, str(entry.scope), entry.model_class
