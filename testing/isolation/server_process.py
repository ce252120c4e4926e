"""The server's process as the parent sees it: started, spoken to, and ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from testing.isolation import linux, wire
from testing.isolation.output import HeadTail

__all__ = ["ServerDiedError", "ServerProcess", "drain"]

_BOOTSTRAP: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from testing.isolation.server import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
_CHUNK: Final = 64 * 1024
_MARK: Final = "EXPORT_HARNESS_SERVER"
_CLOSE_SECONDS: Final = 5.0


class ServerDiedError(Exception):
    """The server ended, or stopped answering, without being told to."""


class ServerProcess:
    """One server process.

    Attributes:
        control: The socket on which it is spoken to.
        imported: Names of the modules that it was asked to import.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Start a fresh interpreter with this one's ``sys.path``.

        Args:
            environment: Variables that are set for it on top of this process's.
        """
        self.control, remote = socket.socketpair()
        self.imported: set[str] = set()
        self._output = HeadTail()
        self._mark = uuid.uuid4().hex
        path = json.dumps(_search_path())
        with remote:
            self._popen = subprocess.Popen(
                [sys.executable, "-c", _BOOTSTRAP, str(remote.fileno()), str(os.getpid()), path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                pass_fds=(remote.fileno(),),
                env={**os.environ, **environment, _MARK: self._mark},
                # Ctrl-C is for the parent to handle, which then ends the server.
                start_new_session=True,
            )
        assert self._popen.stdout is not None
        self._pipe = self._popen.stdout
        os.set_blocking(self._pipe.fileno(), False)

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._popen.pid

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a request.

        Raises:
            ServerDiedError: Nobody is there.
        """
        try:
            # Importing test modules may have extended it since the server was started.
            wire.send(self.control, {**message, "search_path": _search_path()}, descriptors)
        except OSError as error:
            raise self._death() from error

    def answer(self) -> dict[str, Any]:
        """The next message, once `control` is readable.

        Raises:
            ServerDiedError: It ended instead.
        """
        try:
            message: dict[str, Any] = wire.receive(self.control)[0]
        except (EOFError, OSError) as error:
            raise self._death() from error
        return message

    def answer_within(self, seconds: float) -> dict[str, Any] | None:
        """The next message, or None when there is none within `seconds`.

        Raises:
            ServerDiedError: It ended instead.
        """
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            self.register(selector)
            while (remaining := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(remaining):
                    if key.fileobj is self.control:
                        return self.answer()
                    self.drain(selector)
        return None

    def register(self, selector: selectors.BaseSelector) -> None:
        """Watch for answers and for output, which would block the server if nobody read it."""
        selector.register(self.control, selectors.EVENT_READ, None)
        selector.register(self._pipe, selectors.EVENT_READ, self.drain)

    def drain(self, selector: selectors.BaseSelector) -> None:
        """Take what it has printed."""
        if drain(self._pipe.fileno(), self._output.feed):
            selector.unregister(self._pipe)

    def close(self) -> None:
        """Let it end its child and itself, and see to it that it does."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_CLOSE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it at once, and with it what its children have started, in groups of their own too.

        As long as it lives it ends them itself, and the kernel ends the child, but no more.
        """
        self.control.close()
        if self._popen.poll() is None:
            linux.kill_group(self.pid)
        self._popen.wait()
        linux.kill_marked(_MARK, self._mark)
        self._pipe.close()

    def _death(self) -> ServerDiedError:
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_CLOSE_SECONDS)
        drain(self._pipe.fileno(), self._output.feed)
        status = self._popen.poll()
        words = self._output.text().strip()
        tail = f"; its last words: {words[-2000:]}" if words else ""
        return ServerDiedError(f"the fork server ended with status {status}{tail}")


def _search_path() -> list[str]:
    return [os.path.abspath(entry) for entry in sys.path]


def drain(descriptor: int, feed: Any) -> bool:
    """Give what can be read at once to `feed`; whether the other end is closed."""
    with contextlib.suppress(BlockingIOError):
        # Bounded, so that a writer that never stops cannot hold the caller.
        for _ in range(64):
            data = os.read(descriptor, _CHUNK)
            if not data:
                return True
            feed(data)
    return False
