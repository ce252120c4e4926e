"""Follow one child from its request to its end, and judge how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from testing.isolation import linux
from testing.isolation.output import HeadTail
from testing.isolation.report import ChildError, ChildReport, Ending, Frame, parse_fault
from testing.isolation.server_process import ServerDiedError, ServerProcess, drain
from testing.isolation.worker import STACK_SIGNAL

__all__ = ["Limits", "watch"]

_STACK_GRACE: Final = 0.5
_STACK_QUIET: Final = 0.05
_KILL_GRACE: Final = 10.0
_MOST_EVENTS: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """How long a child may take, in seconds: as a whole, and to end after its result."""

    whole: float
    exit: float


def watch(
    server: ServerProcess,
    request: dict[str, Any],
    limits: Limits,
    on_stage: Callable[[str], None] | None = None,
) -> ChildReport:
    """Have `server` fork a child for `request` and follow it to its end.

    Args:
        server: The server, idle.
        request: What the child is told.
        limits: When the child and its process group are killed.
        on_stage: Called with each stage as it is reported.

    Raises:
        ServerDiedError: The server ended; the child was killed.
    """
    with contextlib.ExitStack() as stack:
        events = _Events(on_stage)
        streams = _Streams(stack, events)
        follower = _Follower(server, streams, events, limits)
        try:
            follower.follow(request)
        except BaseException:
            follower.kill()
            raise
        return follower.report()


class _Events:
    """What the child reports: stages, and at the end a result or an error."""

    def __init__(self, on_stage: Callable[[str], None] | None) -> None:
        self.stages: list[tuple[str, float]] = []
        self.final: dict[str, Any] | None = None
        self.invalid: str | None = None
        self.is_over = False
        self._on_stage = on_stage
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        if self.is_over:
            return
        self._buffer += data
        if b"\n" in data:
            *lines, rest = self._buffer.split(b"\n")
            self._buffer = bytearray(rest)
            for line in lines:
                self._take(bytes(line))
        elif len(self._buffer) > _MOST_EVENTS:
            self._refuse(bytes(self._buffer))
            self._buffer.clear()

    def finish(self) -> None:
        """What is left is the beginning of a line that the child did not live to end."""
        if self._buffer:
            self._refuse(bytes(self._buffer))

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            self._refuse(line)
            return
        if not isinstance(event, dict):
            self._refuse(line)
        elif "stage" in event:
            self._enter(str(event["stage"]), float(event["at"]))
        elif {"result", "error"} & event.keys() and self.final is None:
            self.final = event
        else:
            self._refuse(line)

    def _enter(self, stage: str, at: float) -> None:
        self.stages.append((stage, at))
        if self._on_stage is not None:
            self._on_stage(stage)

    def _refuse(self, line: bytes) -> None:
        if self.invalid is None:
            self.invalid = line[:200].decode("utf-8", errors="backslashreplace")

    def seconds(self, end: float) -> dict[str, float]:
        """Seconds in each stage; one that is entered twice has the sum."""
        spent: dict[str, float] = {}
        ends = [at for _, at in self.stages[1:]] + [end]
        for (stage, start), stop in zip(self.stages, ends, strict=False):
            spent[stage] = spent.get(stage, 0.0) + max(0.0, stop - start)
        return {stage: round(seconds, 4) for stage, seconds in spent.items()}


class _Streams:
    """The pipes from the child; what is in them outlives it."""

    def __init__(self, stack: contextlib.ExitStack, events: _Events) -> None:
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
        while self.remote_ends:
            os.close(self.remote_ends.pop())

    def _close(self) -> None:
        self.release_remote_ends()
        while self._sinks:
            os.close(self._sinks.popitem()[0])


class _Follower:
    """The course of one child: started, at its limit, asked for its stack, killed, ended."""

    def __init__(
        self, server: ServerProcess, streams: _Streams, events: _Events, limits: Limits
    ) -> None:
        self._server, self._streams, self._events = server, streams, events
        self._start = self._end = time.monotonic()
        self._limits = limits
        self._deadline = self._start + limits.whole
        self._expiries = iter((self._ask_for_stack, self.kill, self._give_up))
        self._child: int | None = None
        self._ended: dict[str, Any] | None = None
        self._timed_out = self._hung_at_exit = False

    def follow(self, request: dict[str, Any]) -> None:
        self._server.send({"run": request}, self._streams.remote_ends)
        self._streams.release_remote_ends()
        with selectors.DefaultSelector() as selector:
            self._server.register(selector)
            self._streams.register(selector)
            while self._ended is None:
                self._step(selector)
        self._end = time.monotonic()
        self._streams.drain()
        self._events.finish()

    def _step(self, selector: selectors.BaseSelector) -> None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            next(self._expiries)()
            return
        had_result = self._events.final is not None
        for key, _ in selector.select(remaining):
            if key.data is None:
                self._hear(self._server.answer())
            else:
                key.data(selector)
        if self._events.final is not None and not had_result:
            self._deadline = min(self._deadline, time.monotonic() + self._limits.exit)
        if self._timed_out and self._streams.fault.text():
            self._deadline = min(self._deadline, time.monotonic() + _STACK_QUIET)

    def _hear(self, message: dict[str, Any]) -> None:
        if "started" in message:
            self._child = message["started"]
        else:
            self._ended = message

    def _ask_for_stack(self) -> None:
        if self._child is None:
            raise ServerDiedError("the fork server does not answer")
        self._hung_at_exit = self._events.final is not None
        self._timed_out = not self._hung_at_exit
        # The signal below wakes some hangs, and what they still do is not what hung.
        self._events.is_over = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, STACK_SIGNAL)
        self._deadline = time.monotonic() + _STACK_GRACE

    def kill(self) -> None:
        """Kill the child and its process group."""
        if self._child is not None and self._ended is None:
            linux.kill_group(self._child)
        self._deadline = time.monotonic() + _KILL_GRACE

    def _give_up(self) -> None:
        raise ServerDiedError("the fork server does not tell the end of a child that was killed")

    def report(self) -> ChildReport:
        assert self._ended is not None
        status: int = self._ended["status"]
        final = self._events.final or {}
        ending = self._ending(status)
        clean = ending in (Ending.RESULT, Ending.ERROR)
        return ChildReport(
            ending=ending,
            result=final.get("result"),
            error=_error(final["error"]) if ending is Ending.ERROR else None,
            signal=None if clean or self._timed_out or status >= 0 else _signal_name(-status),
            exit_code=None if clean or self._timed_out else _shell_code(status),
            stage=self._events.stages[-1][0] if self._events.stages else None,
            stages=self._events.seconds(self._end),
            stack=parse_fault(self._streams.fault.text()),
            stdout=self._streams.stdout.text(),
            stderr=self._streams.stderr.text(),
            seconds=self._end - self._start,
            peak_rss_mb=self._ended["rss_kb"] / 1024,
            notes=self._notes(ending, status),
        )

    def _ending(self, status: int) -> Ending:
        if self._timed_out:
            return Ending.TIMEOUT
        if self._events.final is not None:
            return Ending.RESULT if "result" in self._events.final else Ending.ERROR
        if status < 0:
            return Ending.SIGNALED
        if self._events.invalid is not None:
            return Ending.INVALID
        return Ending.EXITED if status else Ending.NO_RESULT

    def _notes(self, ending: Ending, status: int) -> tuple[str, ...]:
        notes = []
        if ending in (Ending.RESULT, Ending.ERROR) and self._hung_at_exit:
            notes.append(
                f"the process had its result and hung for {self._limits.exit:g} s at exit: killed"
            )
        elif ending in (Ending.RESULT, Ending.ERROR) and status:
            how = f"died by {_signal_name(-status)}" if status < 0 else f"exited with {status}"
            notes.append(f"the process had its result and {how} at exit")
        if self._events.invalid is not None:
            notes.append(f"the process reported what is no JSON: {self._events.invalid!r}")
        return tuple(notes)


def _error(values: dict[str, Any]) -> ChildError:
    frames = tuple(Frame(*frame) for frame in values["frames"])
    return ChildError(values["kind"], values["message"], values["traceback"], frames)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shell_code(status: int) -> int:
    return status if status >= 0 else 128 - status
