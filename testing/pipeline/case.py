"""One case: prepared, taken part by part through the stages, and summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from exporters import get_backend
from exporters.base import Backend, ExportedModel
from testing.faults import model_files
from testing.pipeline.part_run import PartRun
from testing.pipeline.part_stages import run_stages
from testing.pipeline.parts import Part, parts_of
from testing.pipeline.prepare import normalise
from testing.results import CaseResult
from testing.rolling_up import rolled_up
from testing.settings import CaseRequest
from testing.stage_names import in_component
from testing.subject import Subject

__all__ = ["run"]


def run(
    request: CaseRequest,
    prepare: Callable[[], Subject],
    on_stage: Callable[[str], None],
    backend: Backend | None = None,
    on_part: Callable[[CaseResult], None] = lambda result: None,
) -> CaseResult:
    """Run one case and say how it ended.

    Whatever a model, its test or a backend raises becomes a result with stage, message and
    source line; ``KeyboardInterrupt`` and ``SystemExit`` pass through. A backend that cannot run
    here, a limit of its runtime, and a test that skips itself, give ``skipped``; a toolkit whose
    interface does not match is ``failed``, with a message that starts with
    ``BackendIncompatibleError``.

    Args:
        request: The case and the run's options.
        prepare: Builds the subject.
        on_stage: Called with each name of `STAGES` as that stage begins; of a component with
            ``language_model: export``.
        backend: The backend; by default the one that the case names.
        on_part: Called with the result of each component as it ends.

    Returns:
        The result; where the case has components it holds theirs and sums them up.
    """
    whole = PartRun.of(request, None, on_stage)
    found = backend or whole.attempt(lambda: get_backend(request.case.backend))
    if found is None:
        return whole.finished(None)
    return _CaseRun(request, found, whole, on_stage, on_part).result_of(prepare)


@dataclass
class _CaseRun:
    """The run of one case.

    Attributes:
        request: What was asked.
        backend: The backend.
        whole: The run of the whole model, which a case of components only prepares.
        on_stage: Called with each stage of a component as it begins.
        on_part: Called with the result of each component as it ends.
        programs: What was exported and can run, by component.
    """

    request: CaseRequest
    backend: Backend
    whole: PartRun
    on_stage: Callable[[str], None]
    on_part: Callable[[CaseResult], None]
    programs: dict[str, ExportedModel] = field(default_factory=dict)

    def result_of(self, prepare: Callable[[], Subject]) -> CaseResult:
        """Prepare and run."""
        prepared = self.whole.attempt(lambda: self._prepared(prepare))
        if prepared is None:
            return self.whole.finished(self.backend)
        subject, parts = prepared
        if [part.name for part in parts] == [None]:
            self.whole.attempt(lambda: run_stages(self.whole, parts[0].subject, self.backend))
            return self.whole.finished(self.backend)
        whole = self.whole.finished(self.backend)
        return rolled_up(whole, [*map(self._component, parts), *self._driven(subject)])

    def _prepared(self, prepare: Callable[[], Subject]) -> tuple[Subject, list[Part]]:
        self.whole.clock.begin("prepare")
        subject = normalise(prepare())
        self.whole.changed_flags = subject.exceptions
        self.whole.files |= model_files(subject.model)
        with self.backend.caches_as_traced():
            return subject, parts_of(subject, self.request.case, self.backend)

    def _component(self, part: Part) -> CaseResult:
        """The result of one component, told as soon as it is known."""
        run = self._run_of(part.name or "", part.subject)
        run.unless_skipped(lambda: self._taken(run, part.subject))
        if run.exported is not None and run.exported.runnable:
            self.programs[part.name or ""] = run.exported
        return self._told(run)

    def _taken(self, run: PartRun, subject: Subject) -> None:
        run.clock.begin("prepare")
        run_stages(run, subject, self.backend)

    def _driven(self, subject: Subject) -> Iterator[CaseResult]:
        """What generation does with the programs of its components together."""
        if self.request.case.generate:
            from testing import generation

            run = self._run_of(generation.GREEDY, subject)
            run.unless_skipped(lambda: generation.drive(run, subject, self.programs, self.backend))
            yield self._told(run)

    def _run_of(self, component: str, subject: Subject) -> PartRun:
        def enter(stage: str) -> None:
            self.on_stage(in_component(component, stage))

        run = PartRun.of(self.request, component, enter)
        run.changed_flags = subject.exceptions
        return run

    def _told(self, run: PartRun) -> CaseResult:
        result = run.finished(self.backend)
        self.on_part(result)
        return result
