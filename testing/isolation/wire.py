"""Messages between the parent and its fork server: a length, then JSON, with descriptors."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

from testing.faults import text_of

__all__ = ["encode", "receive", "send"]

_LENGTH = struct.Struct("!Q")
_MOST_DESCRIPTORS = 8


def send(connection: socket.socket, message: Any, descriptors: Sequence[int] = ()) -> None:
    """Send one message; the descriptors travel with its length."""
    body = json.dumps(message).encode()
    # A stream socket may take a part of what it is given, of 8 bytes it takes all.
    socket.send_fds(connection, [_LENGTH.pack(len(body))], descriptors)
    connection.sendall(body)


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """The next message and its descriptors.

    Raises:
        EOFError: The other side is gone.
    """
    head, descriptors, _, _ = socket.recv_fds(
        connection, _LENGTH.size, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
    )
    head += _exactly(connection, _LENGTH.size - len(head)) if head else b""
    if not head:
        raise EOFError("the connection is closed")
    (length,) = _LENGTH.unpack(head)
    return json.loads(_exactly(connection, length)), descriptors


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise EOFError("the connection ended inside a message")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def encode(event: dict[str, Any]) -> bytes:
    """One line of JSON in ASCII; what JSON cannot carry becomes text.

    Raises:
        ValueError: The event holds itself.
        TypeError: A key is no text.
    """
    return json.dumps(event, default=text_of).encode("ascii") + b"\n"
