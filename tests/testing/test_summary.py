"""The terminal summary: a result per case, totals that add up, and each failure on one line."""

from __future__ import annotations

import re

import pytest

from testing.reports.summary import summarize
from testing.results import CaseResult, Outcome


def row(
    model_class: str, outcome: str = "passed", test_class: str = "", **values: object
) -> CaseResult:
    facts = {
        "model_type": model_class.lower()[:4],
        "backend": "neuron",
        "runtime": "xla",
        "variant": "static",
        "generate": False,
        "static_cache": False,
        **values,
    }
    test_class = test_class or f"test_of.py::{model_class}Test"
    case_id = f"{test_class}::test_neuron_export_{facts['variant']}_{model_class}"
    return CaseResult(case_id, model_class=model_class, outcome=Outcome(outcome), **facts)  # type: ignore[arg-type]


def lines(*results: CaseResult) -> list[str]:
    return [line.rstrip() for line in summarize(results, width=120).splitlines()]


def the_line(start: str, *results: CaseResult) -> str:
    """The one line that starts so, its columns one space apart."""
    narrow = [re.sub(r"\s+", " ", line).strip() for line in lines(*results)]
    (found,) = [line for line in narrow if line.startswith(start)]
    return found


CRASH = row(
    "YolosModel",
    "crashed",
    stage="export",
    signal="SIGSEGV",
    op="aten::upsample_bicubic2d",
    operand="embeddings.position_embeddings",
    source="modeling_yolos.py:146",
    message="left no message\nand more",
)


def test_each_case_has_its_result() -> None:
    results = [
        row("BertModel"),
        row("BertModel", "not_applicable", variant="dynamic", message="mixes samples"),
        CRASH,
    ]
    text = lines(*results)
    assert re.sub(r"\s+", " ", text[0]) == "model class neuron/xla dynamic neuron/xla static"
    assert the_line("BertModel not", *results) == "BertModel not applicable passed"
    assert the_line("YolosModel crashed", *results) == "YolosModel crashed SIGSEGV"


def test_a_failure_is_one_line_with_all_that_is_known() -> None:
    assert the_line("YolosModel [", CRASH) == (
        "YolosModel [neuron/xla static]: crashed at export · SIGSEGV · aten::upsample_bicubic2d "
        "on embeddings.position_embeddings · modeling_yolos.py:146 · left no message"
    )


# B32: what the totals say is what the rows are.
def test_totals_add_up_to_the_cases() -> None:
    results = [row(f"A{number}Model") for number in range(5)]
    results += [row("A0Model", "failed", variant="dynamic"), row("B1Model", "timeout")]
    assert the_line("neuron/xla static 5", *results) == "neuron/xla static 5 0 1 6"
    assert the_line("neuron/xla dynamic 0", *results) == "neuron/xla dynamic 0 1 0 1"
    assert the_line("all 5", *results) == "all 5 1 1 7"


def test_skips_are_grouped_by_scope_and_reason() -> None:
    reason = {"outcome": "skipped", "scope": "neuron", "reason": "dies in trace"}
    results = [row("CvtModel", **reason), row("CvtModel", variant="dynamic", **reason)]
    results += [row("BertModel", "skipped", reason="slow: run it with --slow or RUN_SLOW=1")]
    assert "skipped (3)" in lines(*results)
    assert the_line("CvtModel", *results) == (
        "CvtModel [neuron/xla dynamic, neuron/xla static]: scope neuron: dies in trace"
    )


def test_many_cases_of_one_reason_are_counted_and_not_all_named() -> None:
    results = [row(f"M{number:03}Model", "skipped", reason="slow") for number in range(230)]
    assert the_line("230 cases", *results).startswith("230 cases of 230 classes (M000Model, ")
    assert len(lines(*results)) < 6


def test_classes_of_which_nothing_ran_are_in_no_table() -> None:
    assert "model class" not in summarize([row("BertModel", "skipped", reason="slow")])


def test_not_applicable_tells_leaf_and_figure() -> None:
    said = "logits_per_image: (4, 2) in chunks, (4, 4) on the whole"
    result = row("CLIPModel", "not_applicable", variant="dynamic", message=said)
    assert the_line("CLIPModel [", result) == f"CLIPModel [neuron/xla dynamic]: {said}"


def test_patches_and_exceptions_are_counted() -> None:
    note = "Note: not as transformers has it: use_cache off (slices out of range)."
    results = [row("HubertModel", patches=["weight_norm"]), row("PhiModel", message=note)]
    results += [row("WavLMModel", patches=["weight_norm"]), row("UnivNetModel", message=note)]
    assert "patches applied: weight_norm to 2 cases" in lines(*results)
    assert the_line("2 cases run", *results) == (
        "2 cases run otherwise than transformers has it, with use_cache off (slices out of range)"
    )


def reading(name: str, *places: int) -> CaseResult:
    return row(name, baked_reads=[f"aten::item of x at modeling_x.py:{line}" for line in places])


def test_baked_reads_are_counted_by_place_the_most_frequent_first() -> None:
    results = [reading("AModel", 7, 7, 8), reading("BModel", 8), row("CModel")]
    assert the_line("values baked in", *results) == (
        "values baked in while tracing: 2 cases, right unless fresh inputs fail: "
        "modeling_x.py:8 2, modeling_x.py:7 1"
    )


def test_of_many_places_of_baked_reads_the_first_are_named() -> None:
    said = the_line("values baked in", reading("AModel", *range(10, 17)))
    assert "tracing: 1 case, " in said
    assert said.endswith(":14 1, … and 2 other places")


MINI_LM = "tests/models/test_checkpoints.py::MiniLMTest"


def test_a_model_class_of_two_test_classes_has_a_row_for_each() -> None:
    results = [
        row("BertModel"),
        row("BertModel", "not_applicable", test_class=MINI_LM),
        row("BertForMaskedLM"),
    ]
    assert the_line("BertModel (BertModelTest)", *results) == "BertModel (BertModelTest) passed"
    assert the_line("BertModel (MiniLMTest) not", *results).endswith("not applicable")
    assert the_line("BertForMaskedLM", *results) == "BertForMaskedLM passed"


def test_a_failure_and_a_skip_tell_the_test_class_where_there_are_two() -> None:
    skipped = row("BertModel", "skipped", test_class=MINI_LM, reason="no checkpoint")
    results = [row("BertModel", "failed", message="off"), skipped]
    assert the_line("BertModel (MiniLMTest)", *results) == (
        "BertModel (MiniLMTest) [neuron/xla static]: no checkpoint"
    )
    assert the_line("BertModel (BertModelTest) [", *results).endswith("static]: failed · off")


def test_two_test_classes_of_one_name_are_told_by_their_files() -> None:
    hosts = ("a.py::BertTest", "b.py::BertTest")
    results = [row("BertModel", test_class=test_class) for test_class in hosts]
    assert the_line("BertModel (a.py", *results) == "BertModel (a.py::BertTest) passed"


def test_a_pass_that_proves_nothing_is_said() -> None:
    note = "Proves nothing: every leaf of eager is near-constant or empty."
    assert the_line("AModel [", row("AModel", message=note)) == (
        "AModel [neuron/xla static]: every leaf of eager is near-constant or empty."
    )


# B06: the same incompatibility from two workers is one line.
def test_one_incompatibility_is_one_line() -> None:
    said = "BackendIncompatibleError: toolkit 9 takes no argument 'compiler_args'"
    results = [row(name, "failed", stage="export", message=said) for name in ("AModel", "BModel")]
    assert sum("toolkit 9" in line for line in lines(*results)) == 1


def test_a_stale_entry_is_named() -> None:
    result = row("CvtModel", "xpassed", scope="neuron.static", reason="fixed since")
    assert "entry of scope neuron.static is stale, delete it" in the_line("CvtModel [", result)


def test_variants_of_generation_have_columns_of_their_own() -> None:
    results = [row("GPT2Model"), row("GPT2Model", generate=True, static_cache=True)]
    assert "neuron/xla generate static static-cache" in re.sub(r"\s+", " ", lines(*results)[0])


@pytest.mark.parametrize("color", [True, False])
def test_only_a_terminal_gets_colours(color: bool) -> None:
    assert ("\x1b[" in summarize([CRASH], color=color)) is color


# B34: what a reason holds is data.
def test_text_that_looks_like_markup_or_control_is_shown_as_text() -> None:
    reason = "[red]x[/red] :smile: \x1b[31m \x00 \ud800"
    text = summarize([row("AModel", "skipped", scope="all", reason=reason)])
    assert r"[red]x[/red] :smile: \x1b[31m \x00 \ud800" in text
    text.encode("utf-8")


def test_a_long_line_is_left_to_the_terminal() -> None:
    result = row("AModel", "failed", message="x" * 150)
    assert "x" * 150 in summarize([result], width=80)


def died(name: str, op: str, line: int) -> CaseResult:
    return row(name, "crashed", stage="export", op=op, source=f"modeling_{name.lower()}.py:{line}")


def test_failures_are_grouped_by_op_the_most_frequent_first() -> None:
    results = [died("AModel", "aten::polar", 3)]
    results += [died(name, "aten::im2col", number) for number, name in enumerate("BCD")]
    text = lines(*results)
    assert text.index("failures (4), causes (2)") == len(text) - 3
    assert text[-2].startswith("  B [neuron/xla static], C [neuron/xla static], D [neuron/xla ")
    assert "aten::im2col" in text[-2]
    assert "aten::polar" in text[-1]


def test_failures_of_one_message_are_one_cause_whatever_its_figures_and_model() -> None:
    results = [
        row(name, "failed", stage="run", message=f"{name}.forward: got {number} values")
        for number, name in enumerate(("AModel", "BModel"))
    ]
    assert the_line("failures", *results) == "failures (2), causes (1)"


def test_each_failure_has_the_command_that_runs_it_alone() -> None:
    results = [died(name, "aten::im2col", 1) for name in "ABC"]
    text = summarize(results, rerun=lambda result: f"pytest {result.model_class}", width=120)
    assert text.endswith("    pytest A\n    pytest B\n    pytest C\n")


def test_of_many_commands_the_first_are_told() -> None:
    results = [died(f"M{number:02}", "aten::im2col", 1) for number in range(30)]
    text = summarize(results, rerun=lambda result: f"pytest {result.model_class}", width=120)
    assert text.count("    pytest ") == 8
    assert "… and 22 more: each failure has its own above" in text
