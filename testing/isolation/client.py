"""The parent's side: children on request, from a server that is watched and restarted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from testing.isolation.modules import ModuleSpec
from testing.isolation.report import ChildReport, Ending
from testing.isolation.server_process import ServerDiedError, ServerProcess
from testing.isolation.watch import Limits, watch

__all__ = ["ForkServer", "Task"]

# OpenBLAS starts its threads when numpy is imported, and threads do not survive a fork.
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1"}
_START_SECONDS: Final = 300.0
_EXIT_SECONDS: Final = 5.0
_STARTS: Final = 2


@dataclass(frozen=True)
class Task:
    """What one child does.

    Attributes:
        target: ``"module:function"``; it is called as ``function(payload, report)``, where
            ``report(stage)`` tells the parent what is being done, and returns what JSON carries.
        payload: Anything that JSON carries.
        timeout: Seconds from the request to the end.
        memory: Bytes that the child and its descendants may hold; None is no limit.
        modules: Imported once in the server, before it forks.
        path: File of the target's module, when it may not be on ``sys.path``.
        threads: Threads that torch may use in the child.
    """

    target: str
    payload: Any = None
    timeout: float = 1000.0
    memory: int | None = None
    modules: tuple[ModuleSpec, ...] = ()
    path: str | None = None
    threads: int = 1


class _HungImportError(Exception):
    """A module does not come to the end of its import."""


class ForkServer:
    """One fork server, started when the first task needs it.

    A module whose import kills the server, starts threads or starts a device runtime is given
    up: the server is replaced by one that leaves this import to the children, and every report
    has a note that names it. One whose import hangs is not tried again.

    Attributes:
        starts: How often a server process was started.
    """

    def __init__(
        self,
        preload: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        start_timeout: float = _START_SECONDS,
        exit_timeout: float = _EXIT_SECONDS,
    ) -> None:
        """Declare a server; nothing is started.

        Args:
            preload: Modules that it imports when it starts.
            environment: Variables that are set for it on top of this process's.
            start_timeout: Seconds that each of `preload` may take to import.
            exit_timeout: Seconds that a child may take to end once its result is out.
        """
        self.starts = 0
        self._preload = tuple(ModuleSpec(name) for name in preload)
        self._environment = {**_ENVIRONMENT, **(environment or {})}
        self._start_timeout = start_timeout
        self._exit_timeout = exit_timeout
        self._owner = os.getpid()
        self._process: ServerProcess | None = None
        # Both outlive a server process: they are why it was given up.
        self._left_out: dict[str, str] = {}
        self._hung: dict[str, str] = {}

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Id of the server process, when there is one."""
        return self._process.pid if self._process else None

    def run(self, task: Task, on_stage: Callable[[str], None] | None = None) -> ChildReport:
        """Run `task` in a child and say how it ended, whatever it does.

        A server that is found dead is started again. One that dies with the child takes the
        task with it, which ends as `Ending.SERVER_DIED`.

        Args:
            task: What to run.
            on_stage: Called with each stage as it is reported.
        """
        notes: list[str] = []
        try:
            for _ in range(_STARTS):
                try:
                    report = self._attempt(task, on_stage)
                except ServerDiedError as death:
                    notes.append(f"{death}; started again")
                    self._kill()
                else:
                    return _with_notes(report, (*notes, *self._reasons(task)))
            return ChildReport(Ending.SERVER_DIED, notes=tuple(notes))
        except _HungImportError as hang:
            return ChildReport(Ending.HUNG_IMPORT, notes=(str(hang), *notes))
        except BaseException:
            # Ctrl-C, most likely: what runs must end, and no answer to it be read later.
            self.close()
            raise

    def close(self) -> None:
        """End the server and with it any child; it starts again when it is asked for more."""
        if self._process is not None and os.getpid() == self._owner:
            process, self._process = self._process, None
            process.close()

    def _kill(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()

    def _attempt(self, task: Task, on_stage: Callable[[str], None] | None) -> ChildReport:
        server = self._ready_server(task)
        request = {
            "target": task.target,
            "payload": task.payload,
            "path": task.path,
            "threads": task.threads,
        }
        limits = Limits(task.timeout, self._exit_timeout, task.memory)
        report = watch(server, request, limits, on_stage)
        if report.ending is Ending.SERVER_DIED:
            self._kill()
        return report

    def _ready_server(self, task: Task) -> ServerProcess:
        """A server that has imported what `task` needs, but for what must be left out."""
        while True:
            if self._process is None:
                self._process = ServerProcess(self._environment)
                self.starts += 1
            # One of the modules is left out each time round, so this comes to an end.
            if all(self._import(self._process, *wanted) for wanted in self._wanted(task)):
                return self._process
            self._kill()

    def _wanted(self, task: Task) -> Iterator[tuple[ModuleSpec, float]]:
        yield from ((spec, self._start_timeout) for spec in self._preload)
        yield from ((spec, task.timeout) for spec in task.modules)

    def _import(self, server: ServerProcess, spec: ModuleSpec, seconds: float) -> bool:
        """Have a module imported; whether the server can be forked afterwards."""
        if spec.name in server.imported or spec.name in self._left_out:
            return True
        if spec.name in self._hung:
            raise _HungImportError(f"{self._hung[spec.name]}; not tried again")
        try:
            server.send({"import": asdict(spec)})
            answer = server.answer_within(seconds)
        except ServerDiedError as death:
            self._left_out[spec.name] = f"importing {spec.name}: {death}"
            return False
        if answer is None:
            self._hung[spec.name] = f"importing {spec.name} hung for {seconds:g} s"
            self._kill()
            raise _HungImportError(f"hung before test start: {self._hung[spec.name]}")
        if answer["hazards"]:
            found = ", ".join(answer["hazards"])
            self._left_out[spec.name] = f"importing {spec.name} {found}: not safe before a fork"
            return False
        server.imported.add(spec.name)
        return True

    def _reasons(self, task: Task) -> tuple[str, ...]:
        names = [spec.name for spec, _ in self._wanted(task)]
        return tuple(self._left_out[name] for name in names if name in self._left_out)


def _with_notes(report: ChildReport, notes: tuple[str, ...]) -> ChildReport:
    return replace(report, notes=(*report.notes, *notes)) if notes else report
