"""Audits of entries and patches, and the pruning, on the real backend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")

from testing import cli  # noqa: E402
from testing.execution import runner  # noqa: E402

pytestmark = pytest.mark.slow

PLANTED = """from testing.registry import Skip

EXPORT_SKIPS: dict[str, dict[str, str | Skip]] = {
    "neuron": {
        "BertModel": "Same as `CvtModel`.",
        "CvtModel": "dies in trace",
        "YolosModel": "SIGSEGV",
    },
    "neuron.exactness": {
        "ViTModel": "drifts",
    },
}
"""
LEFT = """from testing.registry import Skip

EXPORT_SKIPS: dict[str, dict[str, str | Skip]] = {
    "neuron": {
        "YolosModel": "SIGSEGV",
    },
}
"""
WITHOUT_HELP = ("--trace-patches", "off", "--lowerings", "off", "--lowering-guard", "off")


@pytest.fixture(autouse=True, scope="module")
def _servers() -> Any:
    yield
    runner.close_servers()


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    (tmp_path / "skips.py").write_text(PLANTED, encoding="utf-8")
    return ["--skips", str(tmp_path / "skips.py"), "--audits", str(tmp_path / "audits")]


@pytest.mark.timeout(1800)
def test_stale_entries_are_found_and_pruned_and_the_one_that_dies_stays(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["skips", "audit", *places, *WITHOUT_HELP, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["entries"]
    assert {f"{row['scope']} {row['model_class']}": row["verdict"] for row in found} == {
        "neuron BertModel": "stale",
        "neuron CvtModel": "stale",
        "neuron YolosModel": "needed",
        "neuron.exactness ViTModel": "stale",
    }
    assert "crashed at export · SIGSEGV · aten::upsample_bicubic2d" in found[2]["message"]

    assert cli.main(["skips", "prune", *places]) == 1
    diff = capsys.readouterr().out.splitlines()
    assert [line for line in diff if line.startswith("-        ")] == [
        '-        "BertModel": "Same as `CvtModel`.",',
        '-        "CvtModel": "dies in trace",',
        '-        "ViTModel": "drifts",',
    ]
    assert not [line for line in diff if line.startswith("+ ")]
    assert cli.main(["skips", "prune", "--apply", *places]) == 0
    assert Path(places[1]).read_text(encoding="utf-8") == LEFT
    capsys.readouterr()
    assert cli.main(["skips", "lint", *places[:2]]) == 0


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("lowerings", "verdict", "status"), [("off", "needed", 0), ("on", "superseded", 1)]
)
def test_each_patch_of_upstream_is_inert_and_needed_unless_lowerings_do_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lowerings: str, verdict: str, status: int
) -> None:
    models = ["Wav2Vec2Model", "YolosModel", "ConvBertModel"]
    chosen = [word for name in models for word in ("--model", name)]
    argv = ["patches", "--audit", "--json", "--repeat", "2", "--audits", str(tmp_path)]
    assert cli.main([*argv, "--lowerings", lowerings, *chosen]) == status
    found = json.loads(capsys.readouterr().out)["models"]
    assert {(row["patch"], row["model_class"], row["verdict"]) for row in found} == {
        ("weight_norm", "Wav2Vec2Model", verdict),
        ("yolos", "YolosModel", verdict),
        ("convbert", "ConvBertModel", verdict),
    }
    assert {row["inspection"]["max_abs"] for row in found} == {0.0}
