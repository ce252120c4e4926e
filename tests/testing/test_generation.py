"""The greedy loop proves what it claims: wrong caches fail it, and so do tokens that tell nothing.

The models are transformers' own, tiny and random; what stands for an exported program is a double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from exporters.tree import tensor_leaves  # noqa: E402
from testing import pipeline  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.generation import weights  # noqa: E402
from testing.generation.conditions import shortcomings  # noqa: E402
from testing.generation.loop import Generated, Loop  # noqa: E402
from testing.generation.padding import read_positions  # noqa: E402
from testing.generation.prompts import Prompts, padded_rows  # noqa: E402
from testing.generation.settings import without_end  # noqa: E402
from testing.registry.entries import Tolerance  # noqa: E402
from testing.results import CaseResult, Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402
from testing.subject import Subject  # noqa: E402
from testing.tiny import build  # noqa: E402
from tests.testing.doubles import EagerDouble  # noqa: E402

TOLERANCE = Tolerance(1e-3, 1e-3)
CACHES = ("cache", "past_key_values")
Edit = Callable[[dict[str, Any]], Any]


class StepDouble(EagerDouble):
    """Runs the model itself, and edits what its decode is given or gives."""

    def __init__(self, before: Edit = lambda inputs: None, after: Edit = lambda out: None) -> None:
        super().__init__(edit_call=self._call, edit=self._edit)
        self._before, self._after = before, after
        self._decodes = False

    def _call(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self._decodes = bool(past(inputs))
        if self._decodes:
            self._before(inputs)
        return inputs

    def _edit(self, output: Any) -> Any:
        if self._decodes:
            self._after(output)
        return output


def past(inputs: Mapping[str, Any]) -> list[torch.Tensor]:
    """Keys and values that a step is given."""
    held = {name: inputs.get(name) for name in CACHES}
    return [leaf for leaf in tensor_leaves(held).values() if leaf.ndim == 4]


def tiny(model_class: str) -> Subject:
    """A tiny model; each of its sets of prompts is captured by generating, and two will do."""
    subject = build(model_class)
    subject.inputs.families = subject.inputs.families[:2]
    return subject


def run(
    model_class: str = "LlamaForCausalLM",
    double: EagerDouble | None = None,
    *,
    subject: Subject | None = None,
    dynamic: bool = False,
    static_cache: bool = True,
) -> CaseResult:
    case = ExportCase(
        model_class, None, "double", dynamic=dynamic, generate=True, static_cache=static_cache
    )
    request = CaseRequest(case, "id", "m", "/m.py", "T", "t", TOLERANCE, RunSettings())
    prepared = subject or tiny(model_class)
    return pipeline.run(request, lambda: prepared, lambda stage: None, double or EagerDouble())


def parts(result: CaseResult) -> dict[str | None, CaseResult]:
    return {part.component: part for part in result.components}


def outcomes(result: CaseResult) -> dict[str | None, Outcome]:
    return {name: part.outcome for name, part in parts(result).items()}


PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


class TestLoop:
    def test_right_programs_pass_and_say_what_was_driven(self) -> None:
        result = run()
        assert outcomes(result) == {"prefill": PASSED, "decode": PASSED, "greedy": PASSED}
        greedy = parts(result)["greedy"]
        assert greedy.message == "Note: 8 tokens for each of 2 prompts, 2 of them padded."
        assert list(greedy.metrics) == ["tokens", *(f"logits.{step}" for step in range(8))]

    def test_a_program_whose_past_is_zeroed_fails(self) -> None:
        def lose(inputs: dict[str, Any]) -> None:
            for leaf in past(inputs):
                leaf.zero_()

        result = run(double=StepDouble(before=lose))
        assert outcomes(result) == {"prefill": PASSED, "decode": FAILED, "greedy": FAILED}
        assert "logits.1` differs" in (parts(result)["greedy"].message or "")

    def test_so_does_one_that_loses_what_it_has_written_itself(self) -> None:
        def lose(output: Any) -> None:
            for leaf in past(output):
                leaf[:, :, -1] = 0

        result = run(double=StepDouble(after=lose), static_cache=False, dynamic=True)
        assert outcomes(result)["greedy"] is FAILED
        assert "differs" in (parts(result)["greedy"].message or "")

    def test_static_shapes_with_a_growing_cache_compare_one_step(self) -> None:
        greedy = parts(run(static_cache=False))["greedy"]
        assert greedy.outcome is PASSED
        assert "2 tokens for each" in (greedy.message or "")

    def test_what_is_missing_is_told_and_is_no_pass(self) -> None:
        class NoDecode(EagerDouble):
            def export(self, model: Any, inputs: Mapping[str, Any], options: Any) -> Any:
                if past(inputs):
                    raise RuntimeError("cannot")
                return super().export(model, inputs, options)

        greedy = parts(run(double=NoDecode()))["greedy"]
        assert (greedy.outcome, greedy.reason) == (
            Outcome.SKIPPED,
            "no program to drive of decode",
        )

    def test_an_encoder_runs_once_and_before_all(self) -> None:
        result = run("T5ForConditionalGeneration")
        assert outcomes(result) == {
            "encoder": PASSED,
            "prefill": PASSED,
            "decode": PASSED,
            "greedy": PASSED,
        }

    def test_a_program_that_is_never_run_is_no_pass(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As where `generate` goes past the module whose program should answer."""
        monkeypatch.setattr("testing.generation.loop.answering", lambda *_: nullcontext())
        greedy = parts(run("T5ForConditionalGeneration"))["greedy"]
        assert greedy.outcome is FAILED
        assert "generate never runs the program of encoder" in (greedy.message or "")

    def test_a_wrong_encoder_fails(self) -> None:
        def spoil(output: Any) -> Any:
            if "logits" not in output:
                output["last_hidden_state"] = output["last_hidden_state"].flip(0)
            return output

        result = run("T5ForConditionalGeneration", EagerDouble(edit=spoil))
        assert outcomes(result)["greedy"] is FAILED


class TestComponents:
    def test_leaves_of_the_cache_are_compared(self) -> None:
        def spoil(output: Any) -> None:
            past(output)[-1][0, 0, 0, 0] += 1

        decode = parts(run(double=StepDouble(after=spoil)))["decode"]
        assert decode.outcome is FAILED
        assert "layers.1.values` differs at [0, 0, 0, 0]" in (decode.message or "")

    def test_dynamic_shapes_get_a_step_of_several_tokens_where_transformers_has_it(self) -> None:
        pytest.importorskip("transformers.exporters")
        lengths: list[int] = []

        class Seeing(EagerDouble):
            def export(self, model: Any, inputs: Mapping[str, Any], options: Any) -> Any:
                lengths.append(inputs["input_ids"].shape[1])
                return super().export(model, inputs, options)

        run(double=Seeing(), dynamic=True, static_cache=False)
        assert lengths == [16, 2]

    def test_a_model_without_a_static_cache_is_not_applicable(self) -> None:
        subject = tiny("LlamaForCausalLM")
        type(subject.model)._can_compile_fullgraph = False
        try:
            result = run(subject=subject)
        finally:
            type(subject.model)._can_compile_fullgraph = True
        assert result.outcome is Outcome.NOT_APPLICABLE
        assert "_can_compile_fullgraph is False" in (result.message or "")

    def test_nor_is_one_that_hands_no_cache_on(self) -> None:
        subject = tiny("LlamaForCausalLM")
        subject.model.generation_config.use_cache = False
        result = run(subject=subject, static_cache=False)
        assert result.outcome is Outcome.NOT_APPLICABLE
        assert "no cache from step to step" in (result.message or "")


class TestConditions:
    def generated(self, tokens: list[list[int]], ahead: float = 1.0) -> Generated:
        logits = torch.zeros(len(tokens[0]), len(tokens), 10)
        for row, chosen in enumerate(tokens):
            for step, token in enumerate(chosen):
                logits[step, row, token] = ahead
        return Generated(torch.tensor(tokens), tuple(logits))

    def test_rows_of_four_tokens_that_are_clearly_ahead_will_do(self) -> None:
        rows = [[0, 1, 2, 3, 0, 1, 2, 3], [4, 5, 6, 7, 4, 5, 6, 7]]
        assert shortcomings(self.generated(rows), TOLERANCE) == []

    def test_repeated_tokens_are_refused(self) -> None:
        rows = [[0, 1, 2, 0, 0, 0, 0, 0], [4, 5, 6, 7, 4, 5, 6, 7]]
        (told,) = shortcomings(self.generated(rows), TOLERANCE)
        assert told.startswith("row 0 has 3 distinct tokens of 8")

    def test_so_are_rows_that_are_all_the_same(self) -> None:
        rows = [[0, 1, 2, 3, 0, 1, 2, 3]] * 2
        (told,) = shortcomings(self.generated(rows), TOLERANCE)
        assert told.startswith("every prompt is continued with")

    def test_a_margin_of_ten_times_the_tolerance_is_not_enough(self) -> None:
        rows = [[0, 1, 2, 3, 0, 1, 2, 3], [4, 5, 6, 7, 4, 5, 6, 7]]
        # Ten times 1e-3 of the absolute and of the relative tolerance: x = 0.01 * (1 + x).
        limit = 0.01 / 0.99
        assert len(shortcomings(self.generated(rows, limit * 0.999), TOLERANCE)) == 16
        assert shortcomings(self.generated(rows, limit * 1.001), TOLERANCE) == []

    def test_a_model_that_proves_nothing_fails_with_the_reason(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("testing.generation.parts.distinguish", lambda loop: None)
        subject = tiny("LlamaForCausalLM")
        with torch.no_grad():
            subject.model.lm_head.weight.mul_(1e-3)
        greedy = parts(run(subject=subject))["greedy"]
        assert greedy.outcome is FAILED
        assert "Equal tokens would prove nothing: row" in (greedy.message or "")

    def test_a_model_that_reads_nothing_of_its_past_fails_with_the_reason(self) -> None:
        subject = tiny("LlamaForCausalLM")
        with torch.no_grad():
            for layer in subject.model.model.layers:
                layer.self_attn.o_proj.weight.zero_()
        greedy = parts(run(subject=subject))["greedy"]
        assert greedy.outcome is FAILED
        assert "with a past of zeros everything is the same" in (greedy.message or "")

    def test_the_head_is_no_longer_the_embedding(self) -> None:
        model: Any = build("GPT2LMHeadModel").model
        assert model.lm_head.weight is model.transformer.wte.weight
        without_end(model)
        subject = tiny("GPT2LMHeadModel")
        prompts = Prompts(subject.inputs, model)
        weights.distinguish(Loop(model, prompts.to_loop(), None, 8))
        assert model.lm_head.weight is not model.transformer.wte.weight
        assert shortcomings(Loop(model, prompts.to_loop(), None, 8).eager(), TOLERANCE) == []


class TestPrompts:
    def test_a_decoder_is_padded_on_the_left_and_its_tokens_keep_their_order(self) -> None:
        subject = build("LlamaForCausalLM")
        given = subject.inputs.traced()
        prompt = Prompts(subject.inputs, subject.model).traced()
        assert sorted(prompt) == ["attention_mask", "input_ids"]
        assert prompt["attention_mask"][:, -1].all()
        assert padded_rows(prompt) == 1
        for row, mask in enumerate(given["attention_mask"].bool()):
            real = prompt["attention_mask"][row].bool()
            assert torch.equal(prompt["input_ids"][row][real], given["input_ids"][row][mask])

    def test_an_encoder_keeps_its_padding_and_the_decoder_starts_from_nothing(self) -> None:
        subject = build("T5ForConditionalGeneration")
        prompt = Prompts(subject.inputs, subject.model).traced()
        assert sorted(prompt) == ["attention_mask", "input_ids"]
        assert torch.equal(prompt["attention_mask"], subject.inputs.traced()["attention_mask"])

    @pytest.mark.parametrize("batch", [1, 2, 5])
    def test_each_set_has_a_padded_row(self, batch: int) -> None:
        subject = build("LlamaForCausalLM")
        prompts = Prompts(subject.inputs, subject.model)
        assert all(padded_rows(prompts.fresh(name, batch)) for name in prompts.families)


class TestPadding:
    tokens = torch.ones(2, 3, dtype=torch.long)
    real = torch.tensor([[True, True, True], [False, True, True]])

    def masks(self, mask: Any) -> dict[str, torch.Tensor]:
        output = {
            "logits": torch.zeros(2, 3, 7),
            "cache": {"keys": torch.zeros(2, 4, 5, 8), "slid": torch.zeros(2, 4, 2, 8)},
        }
        return read_positions(output, {"input_ids": self.tokens, "attention_mask": mask})

    def test_rows_of_a_mask_of_four_axes_that_attend_to_nothing_are_left_out(self) -> None:
        causal = torch.ones(3, 5).tril().bool() & torch.ones(2, 1, 3, 5).bool()
        causal[1, :, :, 0] = False
        masks = self.masks(causal)
        assert torch.equal(masks["logits"], self.real)
        assert masks["cache.keys"].shape == (2, 4, 5)
        assert masks["cache.keys"][1, 0].tolist() == [False, True, True, True, True]
        assert masks["cache.keys"][0].all()

    def test_biases_and_masks_of_two_axes_say_the_same(self) -> None:
        bias = torch.zeros(2, 1, 3, 5)
        bias[1, :, 0] = torch.finfo(torch.float32).min
        assert torch.equal(self.masks(bias)["logits"], self.real)
        assert torch.equal(self.masks(self.real.long())["logits"], self.real)

    def test_a_cache_of_fewer_positions_is_compared_in_full(self) -> None:
        assert "cache.slid" not in self.masks(self.real.long())

    def test_without_padding_everything_is_compared(self) -> None:
        assert self.masks(torch.ones(2, 3)) == {}
