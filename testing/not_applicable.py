"""What a part of a case raises where its variant says nothing of its model."""

from __future__ import annotations

__all__ = ["NotApplicableError"]


class NotApplicableError(Exception):
    """A variant does not concern a model; the message is the fact that shows it."""
