"""What must hold of eager's own tokens before equal tokens prove anything."""

from __future__ import annotations

from collections.abc import Iterator

from testing.generation.loop import Generated
from testing.generation.settings import DISTINCT, MARGIN, NEW_TOKENS
from testing.registry.entries import Tolerance

__all__ = ["shortcomings"]


def shortcomings(generated: Generated, tolerance: Tolerance) -> list[str]:
    """Why equal tokens would prove nothing, a sentence each; empty where they would.

    Args:
        generated: What eager gives.
        tolerance: How far the logits of a program may be off.
    """
    return [
        *_repetitions(generated),
        *_equal_rows(generated),
        *_narrow_steps(generated, tolerance),
    ]


def _repetitions(generated: Generated) -> Iterator[str]:
    if generated.tokens.shape[1] < NEW_TOKENS:
        return
    for row, tokens in enumerate(generated.tokens.tolist()):
        if len(set(tokens)) < DISTINCT:
            yield f"row {row} has {len(set(tokens))} distinct tokens of {len(tokens)}: {tokens}"


def _equal_rows(generated: Generated) -> Iterator[str]:
    if generated.tokens.shape[1] < NEW_TOKENS:
        return
    rows = generated.tokens.tolist()
    if len(rows) > 1 and all(row == rows[0] for row in rows):
        yield f"every prompt is continued with {rows[0]}"


def _narrow_steps(generated: Generated, tolerance: Tolerance) -> Iterator[str]:
    for step, logits in enumerate(generated.logits):
        best = logits.double().topk(2, dim=-1).values
        ahead = best[:, 0] - best[:, 1]
        allowed = MARGIN * (tolerance.atol + tolerance.rtol * best[:, 0].abs())
        for row in (~(ahead > allowed)).nonzero().flatten().tolist():
            yield (
                f"row {row} of step {step} is decided by {float(ahead[row]):.2e}, which is not "
                f"{MARGIN:g} times the tolerance, {float(allowed[row]):.2e}"
            )
