"""`export-harness doctor`: what becomes of every op, also where the process dies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporters.base import OpStatus, OpUse
from testing import cli
from testing.checkpoint import Source
from testing.doctor import all_classes, markdown, text
from testing.doctor.advice import advice
from testing.doctor.all_classes import SweepRequest, examine_all
from testing.doctor.examining import DoctorRequest, examine
from testing.doctor.findings import Findings
from testing.execution import runner
from testing.isolation import ChildReport, Ending, Frame, Task
from testing.shards import Shard

WEIGHTED = OpUse(
    "aten::grid_sampler_2d",
    OpStatus.ON_WEIGHT,
    kind="weight and input",
    operands=("(4, 32) float32 derived from parameter value_proj.bias, input pixel_values",),
    modules=("encoder.layers.0.attn", "encoder.layers.1.attn"),
    source="modeling_deformable_detr.py:88",
    count=16,
)
FOLDED = OpUse(
    "aten::im2col", OpStatus.FOLDED, kind="weight", remedy="fold", source="modeling_a.py:2"
)
LOWERED = OpUse("aten::mm", OpStatus.LOWERED, count=5)
READ = OpUse("aten::_local_scalar_dense", OpStatus.READ, kind="input", source="modeling_a.py:3")
BERT = DoctorRequest("BertModel", "neuron")

Respond = Callable[[Task], ChildReport]


class FakeRunner:
    """Answers tasks without a process."""

    def __init__(self, respond: Respond) -> None:
        self.tasks: list[Task] = []
        self._respond = respond

    def run(self, task: Task) -> ChildReport:
        self.tasks.append(task)
        return self._respond(task)


def reported(**values: Any) -> ChildReport:
    found = Findings("BertModel", "bert", **values).to_dict()
    del found["obstacle"]
    return ChildReport(Ending.RESULT, result=found)


@pytest.mark.parametrize(
    ("use", "fatal"),
    [
        (WEIGHTED, True),
        (FOLDED, False),
        (LOWERED, False),
        (READ, False),
        (OpUse("aten::x", OpStatus.READ, kind="weight and input"), True),
        (OpUse("aten::x", OpStatus.READ, kind="weight and input", remedy="read"), False),
        (OpUse("aten::x", OpStatus.ON_ACTIVATION, kind="input"), False),
        (OpUse("aten::x", OpStatus.RAISES, kind="input"), True),
    ],
)
def test_what_reads_a_placeholder_or_raises_ends_the_trace(use: OpUse, fatal: bool) -> None:
    assert use.is_fatal is fatal


def test_findings_cross_as_json() -> None:
    found = Findings("A", "a", (WEIGHTED, FOLDED, LOWERED), ("yolos",), "X: y", "modeling_a.py:1")
    assert Findings.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_the_table_names_op_parameter_line_and_what_to_do() -> None:
    shown = text.shown(Findings("A", "a", (WEIGHTED, LOWERED)), width=200)
    row = next(line for line in shown.splitlines() if line.startswith("aten::grid_sampler_2d"))
    assert "16" in row
    assert "falls back on a weight" in row
    assert "parameter value_proj.bias" in shown
    assert "modeling_deformable_detr.py:88" in row
    assert "kills the process" in shown
    assert "encoder.layers.0.attn and 1 more" in shown
    assert "lowered by XLA: mm 5" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [80, 120, 149])
def test_on_a_narrow_terminal_each_op_has_a_block_in_which_no_name_is_cut(width: int) -> None:
    long = replace(WEIGHTED, modules=("vision_tower.encoder.layers.11.self_attention.projection",))
    shown = text.shown(Findings("A", "a", (long, READ, LOWERED)), width=width)
    assert all(len(line) <= width for line in shown.splitlines())
    for name in (*long.modules, "modeling_deformable_detr.py:88", "value_proj.bias"):
        assert name in shown
    start, end = shown.index("aten::grid_sampler_2d  16x"), shown.index("aten::_local_scalar")
    block = shown[start:end]
    assert all(f"\n    {label}: " in block for label in ("operand", "where", "to do"))


@pytest.mark.parametrize("width", [150, 200])
def test_in_the_table_no_op_and_no_line_of_code_is_cut(width: int) -> None:
    source = "modeling_conditional_deformable_detr.py:1234"
    shown = text.shown(
        Findings("A", "a", (replace(WEIGHTED, source=source), READ, LOWERED)), width=width
    )
    assert all(len(line) <= width for line in shown.splitlines())
    rows = [line for line in shown.splitlines() if source in line]
    assert len(rows) == 1
    assert rows[0].startswith("aten::grid_sampler_2d")


def test_json_says_what_to_do_as_the_table_does() -> None:
    rows = Findings("A", "a", (WEIGHTED, FOLDED, LOWERED)).to_dict()["uses"]
    assert [row["fatal"] for row in rows] == [True, False, False]
    assert [row["advice"] for row in rows] == list(map(advice, (WEIGHTED, FOLDED, LOWERED)))
    assert rows[0]["advice"]


def test_the_branch_for_any_mask_is_not_told_as_fixed() -> None:
    branch = OpUse("aten::x", OpStatus.GENERAL_BRANCH, kind="input", remedy="masks")
    assert "any mask" in advice(branch)
    assert "fixed" not in advice(branch)
    assert not branch.is_fatal


def test_every_trouble_is_told_and_not_only_the_first() -> None:
    second = OpUse("aten::histc", OpStatus.RAISES, kind="input", message="ValueError: no")
    shown = text.shown(Findings("A", "a", (WEIGHTED, second)))
    assert "17 calls of ops that end the trace" in shown
    assert "ValueError: no" in shown


def test_a_process_that_dies_leaves_what_it_had_seen(tmp_path: Path) -> None:
    def dying(task: Task) -> ChildReport:
        row = {**Findings("", "", (WEIGHTED,)).to_dict()["uses"][0]}
        Path(task.payload["log"]).write_text(json.dumps(row) + '\n{"op": "torn', encoding="utf-8")
        stack = (Frame("/x/modeling_aria.py", 415, "forward"),)
        stderr = "F shape.h:848] Check failed: buffer != nullptr"
        return ChildReport(
            Ending.SIGNALED, signal="SIGABRT", stage="diagnose", stack=stack, stderr=stderr
        )

    found = examine(BERT, FakeRunner(dying))
    assert found.fails
    assert found.uses == (WEIGHTED,)
    assert found.source == "modeling_aria.py:415"
    assert found.error is not None
    assert "SIGABRT" in found.error
    assert "Check failed: buffer" in found.error


def test_what_only_the_unpatched_model_runs_is_patched() -> None:
    def respond(task: Task) -> ChildReport:
        if task.payload["patches"] == "on":
            return reported(uses=(READ, LOWERED), patches=("yolos",))
        return reported(uses=(WEIGHTED, READ, LOWERED))

    found = examine(BERT, FakeRunner(respond))
    assert {(use.op, use.status, use.remedy) for use in found.marked} == {
        (READ.op, OpStatus.READ, None),
        (WEIGHTED.op, OpStatus.PATCHED, "yolos"),
    }
    assert not found.fails


def test_a_model_without_patches_is_run_once() -> None:
    fake = FakeRunner(lambda task: reported(uses=(LOWERED,)))
    examine(BERT, fake)
    assert len(fake.tasks) == 1


def test_a_model_that_cannot_be_built_is_told_with_why() -> None:
    report = ChildReport(Ending.TIMEOUT, stage="build")
    found = examine(BERT, FakeRunner(lambda task: report))
    assert found.obstacle is not None
    assert "killed at its limit" in found.obstacle


def test_the_page_counts_classes_by_op_and_family() -> None:
    found = [
        Findings("DetrA", "detr", (WEIGHTED, LOWERED)),
        Findings("DetrB", "detr", (WEIGHTED,)),
        Findings("RtDetr", "rt_detr", (WEIGHTED,)),
        Findings("Broken", "broken", obstacle="NoTinyModelError: none"),
    ]
    page = markdown.page(found, {"torch": "2.9.1"})
    row = next(line for line in page.splitlines() if "`aten::grid_sampler_2d`" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:] == [
        "falls back on a weight", "weight and input", "", "detr 2, rt_detr 1", "3"
    ]  # fmt: skip
    assert "aten::mm" not in page
    assert "3 model classes were examined: 0 trace, 3 do not, 1 could not be examined" in page
    assert "NoTinyModelError" in page


@pytest.fixture
def _two_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    names = frozenset({"CvtModel", "BertModel"})
    monkeypatch.setattr(all_classes.auto_classes, "known_classes", lambda: names)


@pytest.mark.usefixtures("_two_classes")
def test_an_interrupted_sweep_goes_on(tmp_path: Path) -> None:
    request = SweepRequest("neuron", journal=tmp_path / "findings.jsonl", workers=1)

    def interrupted(request: DoctorRequest) -> Findings:
        if request.name == "CvtModel":
            raise KeyboardInterrupt
        return Findings(request.name, uses=(WEIGHTED,))

    with pytest.raises(KeyboardInterrupt):
        examine_all(request, interrupted)
    with request.journal.open("ab") as stream:
        stream.write(b'{"torn": ')
    asked: list[str] = []

    def examined(request: DoctorRequest) -> Findings:
        asked.append(request.name)
        return Findings(request.name)

    found = examine_all(request, examined)
    assert asked == ["CvtModel"]
    assert [one.model for one in found] == ["BertModel", "CvtModel"]
    assert found[0].uses == (WEIGHTED,)
    assert found[0].model_type == "bert"
    assert examine_all(request, examined) == found
    assert asked == ["CvtModel"]


@pytest.mark.usefixtures("_two_classes")
def test_shards_share_the_classes_out(tmp_path: Path) -> None:
    names = []
    for index in (1, 2, 3):
        journal = tmp_path / f"{index}.jsonl"
        request = SweepRequest("neuron", Shard(index, 3), journal, workers=1)
        names += [one.model for one in examine_all(request, lambda one: Findings(one.name))]
    assert sorted(names) == ["BertModel", "CvtModel"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "or --all"),
        (["BertModel", "--all"], "or --all"),
        (["BertModle"], "nearest: "),
        (["bertmodel"], "the class is called BertModel"),
        (["./nowhere"], "there is no directory"),
    ],
)
def test_wrong_use_is_told(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_directory_without_a_checkpoint_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor", str(tmp_path)]) == 2
    assert "it has no config.json" in capsys.readouterr().err


def test_a_checkpoint_goes_to_the_child_as_its_fields() -> None:
    fake = FakeRunner(lambda task: reported())
    source = Source("/some/where", "BertModel")
    examine(DoctorRequest("/some/where", "neuron", source), fake)
    assert Source(**fake.tasks[0].payload["checkpoint"]) == source


@pytest.fixture(scope="module")
def _servers() -> Iterator[None]:
    yield
    runner.close_servers()


# The row of issue 6: op, parameter and line of each of these.
@pytest.mark.slow
@pytest.mark.usefixtures("_servers")
@pytest.mark.parametrize(
    ("model", "op", "origin"),
    [
        ("FNetModel", "aten::_fft_c2c", "parameter embeddings."),
        ("DeformableDetrModel", "aten::grid_sampler_2d", "parameter encoder.layers.0."),
        ("Llama4TextModel", "aten::polar", "buffer rotary_emb.inv_freq"),
        ("Data2VecVisionForSemanticSegmentation", "aten::_adaptive_avg_pool2d", "parameter data2"),
        ("AriaTextModel", "aten::histc", "parameter layers.0."),
        ("EncodecModel", "aten::_weight_norm_interface", "parameter encoder.layers.0.conv."),
    ],
)
def test_op_parameter_and_line_are_named(
    model: str, op: str, origin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")
    assert cli.main(["doctor", model, "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    use = next(use for use in found["uses"] if use["op"] == op)
    assert any(origin in operand for operand in use["operands"]), use["operands"]
    assert use["source"].startswith("modeling_")
    assert use["modules"]
    assert use["status"] != OpStatus.LOWERED.value
