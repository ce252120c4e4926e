"""Real inputs, through the tokenizer and the processors that a checkpoint brings along."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
import transformers

from testing.checkpoint.pictures import PictureInputs
from testing.checkpoint.sentences import LENGTH, SentenceInputs
from testing.checkpoint.sounds import SoundInputs
from testing.checkpoint.source import Source
from testing.faults import describe_error
from testing.subject import Inputs

__all__ = ["RealInputs", "real_inputs"]

_LONGEST: Final = 160
_PROCESSORS: Final = ("*processor_config.json",)


@dataclass(frozen=True)
class RealInputs:
    """What a checkpoint gives real inputs by.

    Attributes:
        parts: Inputs by what they are called.
        unusable: Why others are not there although the model has arguments for them.
    """

    parts: Mapping[str, Inputs]
    unusable: tuple[str, ...]


def real_inputs(model: torch.nn.Module, source: Source, names: Sequence[str]) -> RealInputs:
    """Inputs for the arguments `names` of a model's forward."""
    parts: dict[str, Inputs] = {}
    unusable: list[str] = []
    for kind in _KINDS:
        if not any(name in names for name in kind.arguments):
            continue
        if not kind.is_in(source):
            unusable.append(f"no {kind.label}: nothing of the checkpoint makes any")
            continue
        try:
            part = kind.make(_loaded(kind.loader, source), model)
            part.traced()
        except Exception as error:
            # What is raised depends on what the checkpoint's files hold.
            why = textwrap.shorten(describe_error(_first(error)), _LONGEST, placeholder=" …")
            unusable.append(f"no {kind.label}: {why}")
        else:
            parts[kind.label] = part
    return RealInputs(parts, tuple(unusable))


def _loaded(loader: str, source: Source) -> Any:
    return getattr(transformers, loader).from_pretrained(
        source.name,
        trust_remote_code=source.trust_remote_code,
        local_files_only=source.is_local,
    )


def _first(error: BaseException) -> BaseException:
    """What an error began with: transformers tries one way after the other."""
    while before := error.__cause__ or error.__context__:
        error = before
    return error


def _sentences(tokenizer: Any, model: torch.nn.Module) -> Inputs:
    config: Any = model.config
    if tokenizer.pad_token is None:
        # Decoders have none; what pads is masked.
        tokenizer.pad_token = tokenizer.eos_token
    decodes = bool(getattr(config, "is_encoder_decoder", False))
    length = min(LENGTH, _places(model), tokenizer.model_max_length)
    sentences = SentenceInputs(tokenizer, length, decodes)
    sets = [sentences.traced(), *map(sentences.fresh, sentences.families)]
    largest = max(int(leaves["input_ids"].max()) for leaves in sets)
    known = _vocabulary(model)
    if known is not None and largest >= known:
        raise ValueError(f"the tokenizer gives the id {largest}, and the model has {known}")
    return sentences


def _places(model: torch.nn.Module) -> int:
    """How long a sentence may be; models like RoBERTa count from behind the id of padding."""
    config: Any = model.config
    count: int = getattr(config.get_text_config(), "max_position_embeddings", None) or LENGTH
    behind = [
        module.padding_idx + 1
        for module in model.modules()
        if isinstance(module, torch.nn.Embedding)
        and module.num_embeddings == count
        and module.padding_idx is not None
    ]
    return count - max(behind, default=0)


def _vocabulary(model: Any) -> int | None:
    """How many ids have an embedding; None where that is not known."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except (NotImplementedError, AttributeError):
        return None


@dataclass(frozen=True)
class _Kind:
    """One kind of real inputs.

    Attributes:
        label: What they are called.
        arguments: Arguments of a forward, one of which takes them.
        files: Patterns of files, of which a checkpoint has one that can make them.
        loader: transformers' class that loads what makes them.
        make: Makes them by what was loaded, for a model.
    """

    label: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]
    loader: str
    make: Callable[[Any, torch.nn.Module], Inputs]

    def is_in(self, source: Source) -> bool:
        """Whether a checkpoint seems to have what makes them; one on the hub has to be asked."""
        if not source.is_local:
            return True
        return any(any(Path(source.name).glob(pattern)) for pattern in self.files)


_KINDS: Final = (
    _Kind(
        "real sentences",
        ("input_ids",),
        ("token*", "vocab*", "*.model", "merges.txt"),
        "AutoTokenizer",
        _sentences,
    ),
    _Kind(
        "drawn pictures",
        ("pixel_values",),
        _PROCESSORS,
        "AutoImageProcessor",
        lambda found, model: PictureInputs(found),
    ),
    _Kind(
        "synthetic sounds",
        ("input_values", "input_features"),
        _PROCESSORS,
        "AutoFeatureExtractor",
        lambda found, model: SoundInputs(found),
    ),
)
