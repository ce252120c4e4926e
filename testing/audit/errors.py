"""What keeps an audit or a pruning from being done."""

from __future__ import annotations

from pathlib import Path

__all__ = ["AuditError", "AuditFileError", "NoAuditError", "NoEntryError", "OtherVersionsError"]


class AuditError(Exception):
    """Base of them; the message says what to do instead."""


class NoEntryError(AuditError):
    """No entry is as the filter wants it; a misspelt name must not look like all is well."""


class AuditFileError(AuditError):
    """A file of an audit that cannot be read or written."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be used ({error.strerror}); name another directory with --audits"
        )


class NoAuditError(AuditError):
    """Nothing has been audited, so that nothing is known to be stale."""


class OtherVersionsError(AuditError):
    """All that is known to be stale was found with other versions than those installed."""
