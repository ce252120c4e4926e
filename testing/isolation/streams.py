"""The pipes between a child and the parent."""

from __future__ import annotations

import contextlib
import os
import selectors
from collections.abc import Callable

from testing.isolation.events import Events
from testing.isolation.output import HeadTail
from testing.isolation.server_process import drain

__all__ = ["Streams"]


class Streams:
    """The pipes from the child; what is in them outlives it.

    Attributes:
        fault: What faulthandler wrote.
        stdout: Standard output.
        stderr: Standard error.
        remote_ends: Descriptors for the child, which are closed here once it has them.
    """

    def __init__(self, stack: contextlib.ExitStack, events: Events) -> None:
        self.fault, self.stdout, self.stderr = HeadTail(), HeadTail(), HeadTail()
        self.remote_ends: list[int] = []
        self._sinks: dict[int, Callable[[bytes], None]] = {}
        stack.callback(self._close)
        for feed in (events.feed, self.fault.feed, self.stdout.feed, self.stderr.feed):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self._sinks[reader] = feed
            self.remote_ends.append(writer)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Have what comes be taken."""
        for descriptor in self._sinks:
            selector.register(descriptor, selectors.EVENT_READ, self._take_from(descriptor))

    def _take_from(self, descriptor: int) -> Callable[[selectors.BaseSelector], None]:
        def take(selector: selectors.BaseSelector) -> None:
            if drain(descriptor, self._sinks[descriptor]):
                selector.unregister(descriptor)

        return take

    def drain(self) -> None:
        """Take what the dead child left in its pipes."""
        for descriptor, feed in self._sinks.items():
            drain(descriptor, feed)

    def release_remote_ends(self) -> None:
        """Close the child's ends, without which nobody would see that the child has closed its."""
        while self.remote_ends:
            os.close(self.remote_ends.pop())

    def _close(self) -> None:
        self.release_remote_ends()
        while self._sinks:
            os.close(self._sinks.popitem()[0])
