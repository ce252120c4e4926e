"""What a person reads of one result."""

from __future__ import annotations

import shlex

import pytest

from testing.cases import ExportCase
from testing.faults import readable
from testing.reports.wording import explanation, headline, rerun_command, skip_text
from testing.results import CaseResult, Outcome
from testing.settings import RunSettings

CASE = ExportCase("YolosModel", "yolos", "neuron", runtime="xla")


def result(outcome: str = "failed", **values: object) -> CaseResult:
    return CaseResult.of(CASE, "a.py::ATest::test_it", Outcome(outcome), **values)


def test_the_headline_is_one_line_of_what_is_known() -> None:
    assert headline(result(stage="eager", message="\n ValueError: no\nmore")) == (
        "failed at eager · ValueError: no"
    )


def test_the_headline_cuts_what_is_long_and_the_explanation_has_it_whole() -> None:
    long = result(stage="export", op="aten::im2col", operand="parameter a, " * 50)
    assert len(headline(long)) < 200
    assert "parameter a, " * 50 in explanation(long, "pytest it")


def test_one_cause_reads_alike_at_any_time() -> None:
    said = "F0000 00:00:{}   {} pjrt.cpp:527] Check failed: buffer != nullptr"
    first, second = (said.format(*stamp) for stamp in [("1796.668", 20158), ("1799.1", 7)])
    assert headline(result(message=first)) == headline(result(message=second))
    assert "pjrt.cpp:527] Check failed" in headline(result(message=first))


def test_the_explanation_keeps_every_line_of_the_message() -> None:
    text = explanation(
        result(message="first\nsecond", baked_reads=["aten::item of x"]), "pytest x"
    )
    assert "failed · first\nsecond\n" in text
    assert "baked in:  aten::item of x" in text
    assert text.endswith("run it alone: pytest x")


UNLOWERED = result(
    stage="export",
    op="aten::im2col",
    operand="(2, 8) float32 derived from parameter conv.weight",
    source="modeling_convbert.py:321",
    message=(
        "UnloweredOpError: aten::im2col would read a value that does not exist while tracing in "
        "module conv at modeling_convbert.py:321: (2, 8) float32 derived from parameter "
        "conv.weight. It needs a lowering or a trace patch; on Neuron it kills the process."
    ),
)


@pytest.mark.parametrize("fact", ["aten::im2col", "parameter conv.weight", "convbert.py:321"])
def test_each_fact_of_a_refused_op_is_said_once(fact: str) -> None:
    assert explanation(UNLOWERED, "pytest x").count(fact) == 1


def test_what_a_refused_op_needs_is_said_without_the_facts() -> None:
    assert headline(UNLOWERED).endswith(
        " · UnloweredOpError: the op would read a value that does not exist while tracing in "
        "module conv. It needs a lowering or a trace patch; on Neuron it kills the process."
    )


def test_a_message_that_was_cut_within_the_operand_does_not_repeat_it() -> None:
    operand = "derived from " + ", ".join(f"parameter layer.{n}" for n in range(500))
    message = f"UnloweredOpError: aten::im2col would read a value: {operand}"
    cut = result(op="aten::im2col", operand=operand, message=readable(message))
    text = explanation(cut, "pytest x")
    assert text.count("parameter layer.99,") == 1
    assert "UnloweredOpError: the op would read a value\n" in text


def test_the_message_of_an_error_keeps_what_no_column_has() -> None:
    said = "RuntimeError: aten::im2col has no such argument at modeling_convbert.py:321"
    assert headline(result(op="aten::im2col", operand="x", message=said)).endswith(said)


def test_a_stale_entry_says_what_to_delete_and_where() -> None:
    stale = result("xpassed", scope="neuron", reason="died in trace")
    told = "stale:     the case passes; delete the entry of YolosModel at skips.py:7, or narrow"
    assert told in explanation(stale, "pytest x", "skips.py:7")
    assert "delete the entry of YolosModel, or narrow" in explanation(stale, "pytest x")


def test_an_entry_that_is_needed_is_not_called_stale() -> None:
    assert "stale" not in explanation(result(scope="neuron", reason="died"), "pytest x", "s.py:7")


def test_a_skip_tells_scope_and_reason() -> None:
    skipped = result("skipped", scope="neuron.static", reason="dies in trace")
    assert skip_text(skipped) == "scope neuron.static: dies in trace"


def test_a_case_that_does_not_apply_tells_the_fact() -> None:
    text = skip_text(result("not_applicable", stage="eager", message="logits mix samples"))
    assert text == "not_applicable at eager · logits mix samples"


def test_the_command_repeats_what_was_not_the_default() -> None:
    settings = RunSettings(trace_patches="off", lowering_guard=False, slow=True, isolate="never")
    assert rerun_command("a.py::T::t", settings) == (
        "pytest a.py::T::t --trace-patches off --lowering-guard off --isolate never --slow"
    )
    assert rerun_command("a.py::T::t", RunSettings()) == "pytest a.py::T::t"


def test_the_command_survives_a_shell() -> None:
    case_id = "a dir/test_x.py::T::test_y['a b']"
    assert shlex.split(rerun_command(case_id, RunSettings()))[1] == case_id
