"""The entries of ``skips.py``; read without importing torch."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Skip", "Tolerance"]


@dataclass(frozen=True)
class Skip:
    """Why a case is skipped, and under which conditions.

    Attributes:
        reason: The cause as it was measured: the op, line or figure.
        issue: Link to an issue, when there is one.
        when: Requirement that must hold for the entry to apply, ``"torch-neuronx<2.9"``.
        until: Last day (ISO 8601) on which the lint accepts the entry.
        kind: ``bug``, ``wontfix``, ``needs-package`` or ``slow``.
        component: Component of a multimodal or generative model that alone is meant.
    """

    reason: str
    issue: str | None = None
    when: str | None = None
    until: str | None = None
    kind: str = "bug"
    component: str | None = None


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from eager.

    Attributes:
        atol: Absolute tolerance, of a leaf whose largest value is 1 or more.
        rtol: Tolerance relative to eager's value.
        mismatch: Share of elements that may lie outside both, 0 to 1.
        reason: The measured cause of a relaxed tolerance.
        issue: As in `Skip`.
        when: As in `Skip`.
        until: As in `Skip`.
        component: As in `Skip`.
    """

    atol: float
    rtol: float
    mismatch: float = 0.0
    reason: str = ""
    issue: str | None = None
    when: str | None = None
    until: str | None = None
    component: str | None = None
