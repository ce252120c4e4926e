"""What an exception says: a message that can be written anywhere, and the model's own line."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import torch

__all__ = [
    "MESSAGE_LIMIT",
    "describe_error",
    "is_modeling",
    "model_files",
    "readable",
    "source_of",
    "text_of",
]

MESSAGE_LIMIT: Final = 4000
"""Characters of a message that a result keeps."""


def describe_error(error: BaseException) -> str:
    """Type and text of an error, even of one whose ``__str__`` raises."""
    text = text_of(error)
    name = type(error).__name__
    return readable(f"{name}: {text}" if text else name)


def text_of(value: object) -> str:
    """The text of any object, even of one whose ``__str__`` raises."""
    try:
        return str(value)
    except Exception as broken:
        return f"<its text cannot be had: __str__ raised {type(broken).__name__}>"


def readable(text: str, limit: int = MESSAGE_LIMIT) -> str:
    r"""Text that every encoding, XML and terminal carries, cut to `limit` characters.

    Control characters and lone surrogates become escapes such as ``\x1b``; the cut keeps whole
    lines where the lines are short and says how much is missing.
    """
    kept = text[: limit + 1]
    clean = _UNSAFE.sub(_escape, kept)
    if len(text) <= limit and len(clean) <= limit:
        return clean
    head = clean[: limit - 40]
    line_end = head.rfind("\n")
    head = head[:line_end] if line_end > limit // 2 else head
    return f"{head} … ({len(text)} characters in all)"


def source_of(error: BaseException, files: Iterable[str] = ()) -> str | None:
    """``file.py:line`` of the innermost frame in the model's code.

    A frame in a ``modeling_*.py`` is preferred, then one in `files`, then one in transformers.

    Args:
        error: The error; what caused it is searched when its own frames hold none.
        files: Files that define the model outside transformers.
    """
    frames = [frame for link in _chain(error) for frame in _frames(link)]
    own = {str(Path(file).resolve()) for file in files}
    for wanted in (is_modeling, lambda name: name in own, _is_transformers):
        for filename, line in frames:
            if wanted(filename):
                return f"{PurePath(filename).name}:{line}"
    return None


def model_files(model: torch.nn.Module) -> frozenset[str]:
    """The files that define the model's classes, less torch's own."""
    classes = {type(module) for module in model.modules()}
    return frozenset(
        file
        for cls in classes
        if not cls.__module__.startswith("torch.") and (file := _file_of(cls)) is not None
    )


def is_modeling(filename: str) -> bool:
    """Whether a file defines a model; ``transformers/modeling_utils.py`` serves all of them."""
    path = PurePath(filename)
    return path.name.startswith("modeling_") and path.parent.name != "transformers"


# Control characters; surrogates, which cannot be encoded; and two that XML does not allow.
_UNSAFE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _frames(error: BaseException) -> list[tuple[str, int]]:
    """File and line of each frame of an error's traceback, innermost first."""
    walked = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in walked][::-1]


def _is_transformers(filename: str) -> bool:
    return "transformers" in PurePath(filename).parts


def _file_of(cls: type) -> str | None:
    try:
        return inspect.getsourcefile(cls)
    except (TypeError, OSError):  # a class of a built-in module or of an interactive session
        return None
