"""The component ``greedy``: exported programs driven by `generate`, against the model's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from exporters.base import Backend, ExportedModel
from exporters.tree import tensor_leaves
from testing.comparison import compare
from testing.comparison.masks import in_cache
from testing.generation.conditions import shortcomings
from testing.generation.errors import LoopError
from testing.generation.loop import Forwards, Generated, Loop
from testing.generation.parts import Generation
from testing.generation.prompts import Prompts, padded_rows
from testing.generation.settings import NEW_TOKENS
from testing.generation.stages import DECODE, PREFILL, Stage
from testing.pipeline.part_run import PartRun
from testing.results import Outcome
from testing.subject import Subject

__all__ = ["GREEDY", "drive", "zeroed_past"]

GREEDY: Final = "greedy"
"""Name of the component."""

# generate says on each call what form the output has; a program has the one of its trace.
_FLAGS: Final = frozenset(
    {
        "logits_to_keep",
        "return_dict",
        "use_cache",
        "output_attentions",
        "output_hidden_states",
    }
)


def drive(
    run: PartRun, subject: Subject, programs: Mapping[str, ExportedModel], backend: Backend
) -> None:
    """Drive the programs of a case through a greedy loop; the verdict is in the result of `run`.

    Args:
        run: The run of the component.
        subject: The whole model as `parts_of` has left it.
        programs: What was exported and can run, by component.
        backend: What has exported it.
    """
    case = run.request.case
    run.clock.begin("prepare")
    generation = Generation(subject.model, Prompts(subject.inputs, subject.model), case)
    with backend.caches_as_traced():
        stages = generation.stages()
    missing = [name for name in stages if name not in programs]
    if missing:
        run.result.outcome = Outcome.SKIPPED
        run.result.reason = f"no program to drive of {', '.join(missing)}"
        return
    # A growing cache has another length at each step, and static shapes only the first.
    steps = NEW_TOKENS if case.dynamic or case.static_cache else 2
    loop = generation.loop(steps)

    run.clock.begin("eager")
    eager = loop.eager()
    wanting = _wanting(run, loop, eager)

    run.clock.begin("run")
    driver = _Driver(stages, programs)
    with backend.caches_as_traced():
        driven = loop.driven(driver.forwards(subject.model))
    wanting += [f"generate never runs the program of {name}" for name in driver.idle]

    run.clock.begin("compare")
    _judge(run, eager, driven, wanting, _notes(loop))


def _wanting(run: PartRun, loop: Loop, eager: Generated) -> list[str]:
    """Why equal tokens would prove nothing.

    That a lost past is seen is a property of the weights and the prompts of each case, so it is
    tried in each, with eager itself as the program: that one is right in all else.
    """
    tolerance = run.terms.tolerance
    told = shortcomings(eager, tolerance)
    for part in _parts_of_past(loop):
        lost = loop.driven(zeroed_past(loop.model, part))
        if compare(eager.leaves, lost.leaves, tolerance).passed:
            told.append(f"with {part or 'a past'} of zeros everything is the same")
    return told


def _parts_of_past(loop: Loop) -> tuple[str, ...]:
    if loop.model.config.is_encoder_decoder:
        return ("self_attention_cache", "cross_attention_cache")
    return ("",)


def zeroed_past(model: Any, part: str = "") -> Forwards:
    """Forwards of the model itself that lose what earlier steps have left.

    Args:
        model: The model.
        part: What stands in the names of the leaves that are lost; all of them by default.
    """

    def step(number: int, inputs: dict[str, Any]) -> Any:
        if number > 0:
            _zero(inputs, part)
        return model.forward(**inputs)

    return Forwards(step)


def _zero(inputs: Mapping[str, Any], part: str) -> None:
    for name, leaf in tensor_leaves(dict(inputs)).items():
        is_past = in_cache(name) and part in name
        if is_past and leaf.is_floating_point():
            leaf.zero_()


@dataclass(frozen=True)
class _Driver:
    """Exported programs in place of a model's forwards.

    Attributes:
        stages: The forwards that were exported.
        programs: The program of each.
        driven: Those that have run.
    """

    stages: Mapping[str, Stage]
    programs: Mapping[str, ExportedModel]
    driven: set[str] = field(default_factory=set)

    @property
    def idle(self) -> list[str]:
        """Stages whose program has not run: what the model itself gave there proves nothing."""
        return [name for name in self.stages if name not in self.driven]

    def forwards(self, model: Any) -> Forwards:
        """What answers in place of the forwards of `model`."""

        def step(number: int, inputs: dict[str, Any]) -> Any:
            name = DECODE if number else PREFILL
            # The prefill of a multimodal model is its own forward, with programs within.
            return self._run(name, inputs) if name in self.stages else model.forward(**inputs)

        within = [name for name in self.stages if name not in (PREFILL, DECODE)]
        modules = [(self.stages[name].module, self._answer(name)) for name in within]
        return Forwards(step, tuple(modules))

    def _answer(self, name: str) -> Callable[[dict[str, Any]], Any]:
        return lambda inputs: self._run(name, inputs)

    def _run(self, name: str, inputs: Mapping[str, Any]) -> Any:
        traced = self.stages[name].inputs
        given = {n: v for n, v in inputs.items() if v is not None and n not in _FLAGS}
        expected = {n for n, v in traced.items() if v is not None and n not in _FLAGS}
        if set(given) != expected:
            raise LoopError(
                f"generate hands {', '.join(sorted(given))} to {name}, which was traced with "
                f"{', '.join(sorted(expected))}"
            )
        self.driven.add(name)
        flags = {n: traced[n] for n in traced if n in _FLAGS}
        return self.programs[name]({n: {**given, **flags}.get(n) for n in traced})


def _judge(
    run: PartRun, eager: Generated, driven: Generated, wanting: list[str], notes: list[str]
) -> None:
    found = compare(eager.leaves, driven.leaves, run.terms.tolerance)
    reason = run.terms.exactness_reason
    failures = found.structural if reason else found.failures
    lines = [f"{text}." for text in failures]
    lines += [f"Equal tokens would prove nothing: {text}." for text in wanting]
    lines += [f"Figures cannot fail it ({reason})."] if reason else []
    run.result.metrics = found.metrics
    run.result.outcome = Outcome.FAILED if failures or wanting else Outcome.PASSED
    run.result.message = "\n".join([*lines, *notes])


def _notes(loop: Loop) -> list[str]:
    rows = padded_rows(loop.prompt)
    return [
        f"Note: {loop.steps} tokens for each of {_batch(loop.prompt)} prompts, {rows} of them "
        "padded."
    ]


def _batch(prompt: Mapping[str, Any]) -> int:
    return next((leaf.shape[0] for leaf in tensor_leaves(dict(prompt)).values() if leaf.ndim), 0)
