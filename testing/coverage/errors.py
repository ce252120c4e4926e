"""What cannot be found out, because of what was asked or what is installed."""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "NoResultsError",
    "NoTestsError",
    "NoTorchError",
    "RequestError",
    "UnknownSelectionError",
    "VerdictJournalError",
]


class RequestError(Exception):
    """Base of them; the message says what to write or install instead."""


class NoTestsError(RequestError):
    """There is no directory of test modules, or one of them cannot be imported."""


class NoResultsError(RequestError):
    """There is no directory of results."""


class NoTorchError(RequestError):
    """Without torch no tiny model can be examined."""

    def __init__(self) -> None:
        super().__init__("torch is not installed; ask what needs none with --static")


class UnknownSelectionError(RequestError):
    """The installed transformers has no model type or class of a name."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"transformers has no model type or class {name!a}; {why}")


class VerdictJournalError(RequestError):
    """A file of verdicts that cannot be read or written."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"verdicts cannot be kept in {path} ({error.strerror}); "
            "name another file with --journal"
        )
