"""Loads a checkpoint: its weights stay in their file's pages until they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import torch
import transformers

from exporters.base import IN_PLACE_ALIGNMENT
from testing.checkpoint.errors import CheckpointError
from testing.checkpoint.inputs import inputs_for
from testing.checkpoint.source import Source
from testing.isolation.linux import page_out
from testing.subject import Subject

__all__ = ["load_subject"]

_TOLD: Final = 5
# What transformers raises for a checkpoint that it cannot make sense of; RuntimeError for weights
# of other shapes.
_REFUSALS: Final = (OSError, ValueError, KeyError, RuntimeError, ImportError)


def load_subject(source: Source) -> Subject:
    """See `testing.checkpoint.load`."""
    source.require()
    config = _configuration(source)
    loaded = _class_of(source, config)
    model = _model(source, loaded)
    _align(model)
    return Subject(model.eval(), inputs_for(model, source), is_trained=True)


def _configuration(source: Source) -> Any:
    try:
        return transformers.AutoConfig.from_pretrained(source.name, **_options(source))
    except _REFUSALS as error:
        raise CheckpointError(_message(source, error)) from error


def _class_of(source: Source, config: Any) -> Any:
    """The class that is asked for, else the first that the checkpoint names, else its base."""
    classes: Any = transformers
    names = [source.model_class] if source.model_class else list(config.architectures or ())
    for name in names:
        if hasattr(classes, name):
            return getattr(classes, name)
    remote = sorted(getattr(config, "auto_map", None) or ())
    if names and remote and source.trust_remote_code:
        return getattr(classes, next((n for n in remote if n != "AutoConfig"), "AutoModel"))
    if names and remote:
        raise CheckpointError(
            f"{source.name} needs code that it brings along ({names[0]}), which is not run; "
            "--trust-remote-code allows it"
        )
    if names:
        raise CheckpointError(f"transformers {transformers.__version__} has no class {names[0]}")
    return classes.AutoModel


def _model(source: Source, loaded: Any) -> torch.nn.Module:
    try:
        model, loading = loaded.from_pretrained(
            source.name, dtype=source.dtype, output_loading_info=True, **_options(source)
        )
    except _REFUSALS as error:
        raise CheckpointError(_message(source, error, loaded)) from error
    name = type(model).__name__
    _require_none(loading["missing_keys"], f"{source.name} lacks weights of {name}")
    if not source.model_class:
        # Under another class than its own a checkpoint may well have more.
        hint = "; name the class that they are of with --model-class"
        _require_none(
            loading["unexpected_keys"], f"{source.name} has weights that {name} has not", hint
        )
    checked: torch.nn.Module = model
    return checked


def _align(model: torch.nn.Module) -> None:
    """Move weights to where a runtime on the CPU can use them in place, instead of a copy.

    The data of a safetensors file starts behind a header of any length. When the last weight has
    moved, the file is mapped no more.
    """
    weights = {id(w): w for w in (*model.parameters(), *model.buffers())}.values()
    if all(weight.data_ptr() % IN_PLACE_ALIGNMENT == 0 for weight in weights):
        return
    for weight in weights:
        old, weight.data = weight.data, weight.data.clone()
        page_out(old.data_ptr(), old.nbytes)


def _options(source: Source) -> Mapping[str, Any]:
    # A directory is never looked up on the hub.
    return {
        "trust_remote_code": source.trust_remote_code,
        "local_files_only": source.is_local,
    }


def _require_none(keys: Iterable[str], what: str, hint: str = "") -> None:
    names = sorted(keys)
    if names:
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        raise CheckpointError(f"{what}: {', '.join(names[:_TOLD])}{more}{hint}")


def _message(source: Source, error: BaseException, loaded: Any = None) -> str:
    name = source.model_class or getattr(loaded, "__name__", None)
    text = " ".join(str(error).split())
    if "trust_remote_code" in text:
        return (
            f"{source.name} needs code that it brings along, which is not run; "
            "--trust-remote-code allows it"
        )
    return f"{source.name} is no checkpoint{f' of {name}' if name else ''}: {text}"
