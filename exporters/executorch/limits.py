"""Which errors of ExecuTorch's runtime are limits of its own, and no fault of the program."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Final

from exporters.base import RuntimeLimitError

__all__ = ["limit_of", "limits_told"]

_CODE: Final = re.compile(r"\b0x:?([0-9a-f]+)\b")  # of load_method it writes "0x:14"
_MISSING: Final = re.compile(r"Missing operator: \[\d+\] (\S+)")
_KERNEL: Final = re.compile(r"KernelCall failed at instruction \S+ in operator ([\w:.]+?):? ?0x")
_DELEGATE: Final = re.compile(r"(CALL_DELEGATE execute failed|Init failed for backend \w+).*")


def limit_of(error: Exception, log: str) -> str | None:
    """The limit that an error of the runtime is; None where it is something else.

    0x1, 0x10 and 0x12 are also what is said of much else. They are a limit where the log shows
    that a delegate's partition, a resize or a kernel has failed, and not loading or binding.

    Args:
        error: What loading or executing raised.
        log: What the runtime wrote meanwhile.

    Returns:
        The cause, with the code and what of the log is about it.
    """
    message = str(error)
    if isinstance(error, MemoryError) or "bad_alloc" in message:
        return "the runtime cannot allocate its memory (bad_alloc)"
    found = _CODE.search(message)
    told = _LIMITS[int(found[1], 16)](log) if found and int(found[1], 16) in _LIMITS else None
    return f"{told} (0x{found[1]})" if found and told else None


@contextmanager
def limits_told() -> Iterator[None]:
    """Turn errors that are limits into `RuntimeLimitError`; others pass through.

    Raises:
        RuntimeLimitError: With the cause.
    """
    with tempfile.TemporaryFile() as written:
        try:
            with _stderr_into(written.fileno()):
                yield
        except Exception as error:
            limit = limit_of(error, _text(written.fileno()))
            if limit is None:
                raise
            raise RuntimeLimitError(limit) from error
        finally:
            sys.stderr.write(_text(written.fileno()))


def _missing_kernel(log: str) -> str:
    names = ", ".join(dict.fromkeys(_MISSING.findall(log))) or "an operator"
    return f"it has no kernel of {names}"


def _arena(log: str) -> str:
    return "it cannot allocate the planned arena"


def _partition(log: str) -> str | None:
    found = _DELEGATE.search(log)
    return f"a delegate's partition fails: {found[0].strip()}" if found else None


def _kernel_argument(log: str) -> str | None:
    found = _KERNEL.search(log)
    return f"the kernel of {found[1]} refuses an argument" if found else None


def _resize(log: str) -> str | None:
    is_told = "resize" in log.lower()
    return "it cannot resize a tensor as the program asks" if is_told else None


_LIMITS: Final[dict[int, Callable[[str], str | None]]] = {
    0x01: _partition,
    0x10: _resize,
    0x12: _kernel_argument,
    0x14: _missing_kernel,
    0x21: _arena,
}


@contextmanager
def _stderr_into(descriptor: int) -> Iterator[None]:
    """Send there what the process writes to its standard error.

    The runtime writes to Python's ``sys.stderr``, its libraries to the file itself.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        with os.fdopen(os.dup(descriptor), "w") as stream, redirect_stderr(stream):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _text(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode(errors="replace")
