"""transformers' exporters, looked up where the harness expects them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from exporters.base import BackendIncompatibleError

__all__ = [
    "Exporter",
    "auto_dynamic_shapes",
    "exporter_of",
    "leaf_tensors",
    "look_up_patches",
    "prepare",
]

_UTILS: Final = "transformers.exporters.utils"


@dataclass(frozen=True)
class Exporter:
    """One of transformers' exporters.

    Attributes:
        hf: The ``HfExporter``.
    """

    hf: Any

    def export(
        self,
        model: Any,
        inputs: MutableMapping[str, Any],
        dynamic: bool,
        fields: Mapping[str, Any],
    ) -> Any:
        """Export one component; gives an ``ExportedModel`` of transformers.

        Args:
            model: The model.
            inputs: Keyword inputs; transformers changes them.
            dynamic: Whether every axis is declared dynamic.
            fields: Other fields of the configuration.

        Raises:
            BackendIncompatibleError: The configuration has no such field.
        """
        with _expected("an export configuration"):
            config = self.hf.config_class(dynamic=dynamic, **fields)
        return self.hf.export(model, inputs, config)


def exporter_of(export_format: str) -> Exporter:
    """The exporter that transformers has for a format.

    Raises:
        BackendIncompatibleError: It is not where it is expected, or is missing something.
    """
    with _expected(f"an exporter of {export_format}"):
        auto: Any = import_module("transformers.exporters.auto")
        auto.get_runner_class(export_format)
        return Exporter(auto.get_exporter_class(export_format)())


def look_up_patches(*export_formats: str) -> None:
    """Import what transformers patches while it exports; each export would do it anew."""
    with _expected("apply_patches"):
        apply_patches = import_module(_UTILS).apply_patches
        for export_format in export_formats:
            with apply_patches(export_format):
                pass


def auto_dynamic_shapes(model: Any, inputs: Mapping[str, Any]) -> Any:
    """Every axis of every tensor as dynamic, in the tree that torch.export takes with `inputs`."""
    with _expected("get_auto_dynamic_shapes"):
        dynamo: Any = import_module("transformers.exporters.exporter_dynamo")
        get_auto_dynamic_shapes = dynamo.get_auto_dynamic_shapes
        dynamo.register_cache_pytrees_for_model(model)
    return get_auto_dynamic_shapes(dict(inputs))


def prepare(model: Any, inputs: MutableMapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The inputs as transformers exports them, and the flags that it took out of them.

    What a model would compute in a way that cannot be traced (position ids, sizes of images) is
    computed from these inputs and added to them.
    """
    with _expected("prepare_for_export"):
        prepare_for_export = import_module(_UTILS).prepare_for_export
    _, prepared, flags = prepare_for_export(model, inputs)
    return prepared, dict(flags)


def leaf_tensors(value: Any) -> dict[str, Any]:
    """The tensors of `value` by their names in transformers, by which programs call them."""
    with _expected("get_leaf_tensors"):
        get_leaf_tensors = import_module(_UTILS).get_leaf_tensors
    return dict(get_leaf_tensors(value))


@contextmanager
def _expected(what: str) -> Iterator[None]:
    """Say of a failed look-up that it concerns the environment and not one model."""
    try:
        yield
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BackendIncompatibleError(
            f"transformers does not have {what} as it is used here: {error}"
        ) from error
