"""Names that are nearly right: what was meant, and whether that is beyond doubt."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

from testing import auto_classes, released
from testing.auto_classes import TransformersMissingError

__all__ = ["is_known_class", "is_visible", "known_classes", "meant", "nearest"]

# Cyrillic and Greek letters that look as Latin ones do, after Unicode's list of confusables.
_LOOK_ALIKES: Final = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf",
    "ABESIJKMHOPCTXaeopcyxsijABEZHIKMNOPTYXo",
)


@cache
def known_classes() -> frozenset[str]:
    """Every model class that the list of a supported transformers has."""
    by_type = map(released.classes_by_type, released.versions())
    return frozenset(name for names in by_type for found in names.values() for name in found)


def is_known_class(name: str) -> bool:
    """Whether a supported transformers lists a model class, or the installed one defines it."""
    if name in known_classes():
        return True
    try:
        # Not every model class is in an auto mapping, and what is installed may be newer.
        return name in auto_classes.known_classes() or auto_classes.module_of(name) is not None
    except TransformersMissingError:
        return False


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names most like `name`, best first; what cannot be seen in it does not count."""
    names = {other.lower(): other for other in sorted(known)}
    close = difflib.get_close_matches(_seen(name).lower(), names, n=count)
    return tuple(names[lower] for lower in close)


def meant(name: str, known: Iterable[str]) -> str | None:
    """The one known name that `name` can only mean, None where there is a doubt.

    It is the same but for case and what cannot be seen, or one slip of the keyboard away: a
    letter wrong, missing, doubled or changed over with the next. Never a digit: ``Qwen4Model``
    is no misspelt ``Qwen3Model``.
    """
    names = sorted(known)
    seen = _seen(name)
    same = [other for other in names if other.lower() == seen.lower()]
    found = same or [other for other in names if _is_one_slip(seen, other)]
    return found[0] if len(found) == 1 and found[0] != name else None


def is_visible(char: str) -> bool:
    """Whether a reader can see a character, or it is a plain space."""
    return char == " " or unicodedata.category(char)[0] not in "ZC"


def _seen(name: str) -> str:
    """What a reader takes a name for."""
    shown = "".join(char for char in name if is_visible(char)).strip()
    return unicodedata.normalize("NFKC", shown).translate(_LOOK_ALIKES)


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one edit that touches no digit turns `one` into `other`."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = _common(one, other)
    rest = [word[start:] for word in (one, other)]
    end = _common(rest[0][::-1], rest[1][::-1])
    first, second = (word[: len(word) - end] for word in rest)
    if any(char.isdigit() for char in first + second):
        return False
    is_swap = len(first) == 2 and first == second[::-1]
    return max(len(first), len(second)) <= 1 or is_swap


def _common(one: str, other: str) -> int:
    """How many characters two words have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
