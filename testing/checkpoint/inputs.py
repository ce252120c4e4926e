"""Inputs for a loaded checkpoint: real ones through what it brings along, else random ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch
import transformers

from testing.checkpoint.errors import CheckpointError
from testing.checkpoint.pictures import PictureInputs
from testing.checkpoint.sentences import LENGTH, SentenceInputs
from testing.checkpoint.sounds import SoundInputs
from testing.checkpoint.source import Source
from testing.subject import Inputs
from testing.tiny.builder import sampled_inputs
from testing.tiny.errors import NoTinyModelError

__all__ = ["CheckpointInputs", "inputs_for"]

_IMAGES: Final = ("pixel_values",)
_SOUNDS: Final = ("input_values", "input_features")
_RANDOM: Final = "random"


class CheckpointInputs:
    """The leaves of several inputs side by side; of each leaf those of the first that has it.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: Names of the fresh sets, those of the first part.
        unchanged: Leaves that no fresh set changes, each with why.
        described: Where the leaves come from, ``real sentences; random decoder_input_ids``.
    """

    def __init__(self, parts: Mapping[str, Inputs], names: Sequence[str]) -> None:
        """Put inputs together.

        Args:
            parts: Inputs of one batch size, by what they are called.
            names: Arguments of the forward; other leaves are left out.
        """
        self._owners = _owners(parts, names)
        first = next(iter(parts.values()))
        self.batch_size, self.families = first.batch_size, tuple(first.families)
        self.unchanged: Mapping[str, str] = {
            name: part.unchanged[name]
            for name, (_, part) in self._owners.items()
            if name in part.unchanged
        }
        self.described = _described(self._owners)

    def traced(self) -> dict[str, Any]:
        """Keyword inputs of the trace."""
        return self._joined(lambda part: part.traced())

    def fresh(self, family: str, batch_size: int | None = None) -> dict[str, Any]:
        """Other ones; the parts' families stand side by side in their order."""
        place = self.families.index(family)
        return self._joined(
            lambda part: part.fresh(part.families[place % len(part.families)], batch_size)
        )

    def _joined(self, leaves_of: Callable[[Inputs], dict[str, Any]]) -> dict[str, Any]:
        drawn = {id(part): leaves_of(part) for _, part in self._owners.values()}
        return {name: drawn[id(part)][name] for name, (_, part) in self._owners.items()}


def inputs_for(model: torch.nn.Module, source: Source) -> CheckpointInputs:
    """Inputs for `model`: real ones where the checkpoint has what makes them, else random ones.

    Raises:
        CheckpointError: The forward requires an input that nothing makes.
    """
    names = list(inspect.signature(model.forward).parameters)
    real = dict(_real(model, source, names))
    given = {name for part in real.values() for name in part.traced()}
    if real and not _required(model) - given:
        return CheckpointInputs(real, names)
    try:
        random = sampled_inputs(model)
    except NoTinyModelError as error:
        raise CheckpointError(f"no inputs for {source.name}: {error}") from error
    # What is optional stays away from what is real.
    wanted = _required(model) | given if real else set(names)
    return CheckpointInputs({**real, _RANDOM: random}, [n for n in names if n in wanted])


def _real(
    model: torch.nn.Module, source: Source, names: Sequence[str]
) -> Iterator[tuple[str, Inputs]]:
    classes: Any = transformers
    config: Any = model.config
    if "input_ids" in names and (tokenizer := _part(classes.AutoTokenizer, source)):
        if tokenizer.pad_token is None:
            # Decoders have none; what pads is masked.
            tokenizer.pad_token = tokenizer.eos_token
        decodes = bool(getattr(config, "is_encoder_decoder", False))
        places = getattr(config.get_text_config(), "max_position_embeddings", None) or LENGTH
        sentences = SentenceInputs(tokenizer, min(LENGTH, places), decodes)
        yield "real sentences", sentences
    if any(n in names for n in _IMAGES) and (found := _part(classes.AutoImageProcessor, source)):
        yield "drawn pictures", PictureInputs(found)
    if any(n in names for n in _SOUNDS) and (found := _part(classes.AutoFeatureExtractor, source)):
        yield "synthetic sounds", SoundInputs(found)


def _part(auto: Any, source: Source) -> Any:
    """A tokenizer or processor; None where the checkpoint has none."""
    try:
        return auto.from_pretrained(
            source.name,
            trust_remote_code=source.trust_remote_code,
            local_files_only=source.is_local,
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError):
        # transformers has no one way to say that there is none; random inputs then say so.
        return None


def _required(model: torch.nn.Module) -> set[str]:
    from testing.tiny.forward import Forward

    return set(Forward(model).required)


def _owners(parts: Mapping[str, Inputs], names: Sequence[str]) -> dict[str, tuple[str, Inputs]]:
    owners: dict[str, tuple[str, Inputs]] = {}
    for label, part in parts.items():
        for name in part.traced():
            if name in names:
                owners.setdefault(name, (label, part))
    return owners


def _described(owners: Mapping[str, tuple[str, Inputs]]) -> str:
    by_label: dict[str, list[str]] = {}
    for name, (label, _) in owners.items():
        by_label.setdefault(label, []).append(name)
    return "; ".join(f"{label} ({', '.join(names)})" for label, names in by_label.items())
