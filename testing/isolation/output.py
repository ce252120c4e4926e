"""A bounded record of a stream of unbounded length."""

from __future__ import annotations

__all__ = ["HeadTail"]

_KEPT = 64 * 1024


class HeadTail:
    """The first and the last bytes of a stream, and how many were dropped between them."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Append `data` to the stream."""
        room = self._kept - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._kept
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def text(self) -> str:
        """The record as text; bytes that are no UTF-8 show as escapes."""
        gap = f"\n[{self._dropped} bytes dropped]\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode("utf-8", errors="backslashreplace")
