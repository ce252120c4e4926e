"""Follow one child from its request to its end, and judge how it ended."""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from testing.isolation import linux
from testing.isolation.events import Events
from testing.isolation.memory import MemoryWatch
from testing.isolation.report import ChildError, ChildReport, Ending, Frame, parse_fault
from testing.isolation.server_process import ServerDiedError, ServerProcess
from testing.isolation.streams import Streams
from testing.isolation.worker import STACK_SIGNAL

__all__ = ["Limits", "watch"]

_STACK_GRACE: Final = 0.5
_STACK_QUIET: Final = 0.05
_KILL_GRACE: Final = 30.0


@dataclass(frozen=True)
class Limits:
    """What a child may take.

    Attributes:
        whole: Seconds from the request to the end.
        exit: Seconds to end after its result.
        memory: Bytes that it and its descendants may hold; None is no limit.
    """

    whole: float
    exit: float
    memory: int | None = None


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
        ServerDiedError: The server ended before it had started the child.
    """
    with contextlib.ExitStack() as stack:
        events = Events(on_stage)
        streams = Streams(stack, events)
        follower = _Follower(server, streams, events, limits)
        try:
            follower.follow(request)
        except ServerDiedError as death:
            follower.kill()
            if not follower.has_started:
                raise
            return follower.report_of_lost(death)
        except BaseException:
            follower.kill()
            raise
        return follower.report()


class _Follower:
    """The course of one child: started, at its limit, asked for its stack, killed, ended."""

    def __init__(
        self, server: ServerProcess, streams: Streams, events: Events, limits: Limits
    ) -> None:
        self._server, self._streams, self._events = server, streams, events
        self._start = self._end = time.monotonic()
        self._limits = limits
        self._deadline = self._start + limits.whole
        self._expiries = iter((self._ask_for_stack, self.kill, self._give_up))
        self._child: int | None = None
        self._ended: dict[str, Any] | None = None
        self._memory = MemoryWatch(limits.memory)
        self._timed_out = self._hung_at_exit = self._is_too_big = self._is_killed = False

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
        for key, _ in selector.select(min(remaining, self._seconds_to_look)):
            if key.data is None:
                self._hear(self._server.answer())
            else:
                key.data(selector)
        if self._events.final is not None and not had_result:
            self._deadline = min(self._deadline, time.monotonic() + self._limits.exit)
        if self._timed_out and not self._is_killed and self._streams.fault.text():
            self._deadline = min(self._deadline, time.monotonic() + _STACK_QUIET)
        if self._can_be_killed and self._memory.is_exceeded(self._server.pid):
            self._kill_too_big()

    @property
    def _can_be_killed(self) -> bool:
        """Whether the server has told who the child is, and it is not killed already."""
        return self._child is not None and not self._is_killed

    @property
    def _seconds_to_look(self) -> float:
        """Seconds until it is time to look at the memory of a child that can be killed for it."""
        return self._memory.seconds_left if self._can_be_killed else math.inf

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
        self._is_killed = True
        self._deadline = time.monotonic() + _KILL_GRACE

    def _kill_too_big(self) -> None:
        self._is_too_big = self._events.final is None and not self._timed_out
        self._events.is_over = True
        self._expiries = iter((self._give_up,))
        self.kill()

    def _give_up(self) -> None:
        raise ServerDiedError("the fork server does not tell the end of a child that was killed")

    @property
    def has_started(self) -> bool:
        """Whether there is or was a child."""
        return self._child is not None

    def report(self) -> ChildReport:
        """How the child ended."""
        assert self._ended is not None
        status: int = self._ended["status"]
        final = self._events.final or {}
        ending = self._ending(status)
        clean = ending in (Ending.RESULT, Ending.ERROR)
        report = self._report(
            ending,
            result=final.get("result"),
            error=_error(final["error"]) if ending is Ending.ERROR else None,
            signal=None if clean or self._timed_out or status >= 0 else _signal_name(-status),
            exit_code=None if clean or self._timed_out else _shell_code(status),
            notes=self._notes(ending, status),
        )
        return replace(report, peak_rss_mb=max(self._ended["rss_kb"] / 1024, self._peak or 0.0))

    def report_of_lost(self, death: ServerDiedError) -> ChildReport:
        """How far the child came whose server died."""
        self._end = time.monotonic()
        self._streams.drain()
        return self._report(Ending.SERVER_DIED, notes=(str(death),))

    def _report(self, ending: Ending, **values: Any) -> ChildReport:
        return ChildReport(
            ending=ending,
            stage=self._events.stages[-1][0] if self._events.stages else None,
            stages=self._events.seconds(self._end),
            parts=tuple(self._events.parts),
            stack=parse_fault(self._streams.fault.text()),
            stdout=self._streams.stdout.text(),
            stderr=self._streams.stderr.text(),
            seconds=self._end - self._start,
            peak_rss_mb=self._peak,
            **values,
        )

    @property
    def _peak(self) -> float | None:
        return self._memory.peak / (1 << 20) or None

    def _ending(self, status: int) -> Ending:
        if self._timed_out:
            return Ending.TIMEOUT
        if self._is_too_big:
            return Ending.MEMORY
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
