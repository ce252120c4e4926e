"""Test classes that nobody has to write: one for each model type of the installed transformers."""

from __future__ import annotations

import unittest
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from testing import auto_classes
from testing.auto_classes import TransformersMissingError
from testing.mixin import ExportGenerateTesterMixin, ExportTesterMixin

__all__ = ["export_tests", "unsorted_types"]


def export_tests(module_name: str, model_types: Iterable[str]) -> dict[str, type]:
    """A test class for each model type that the installed transformers has classes of its own for.

    It is named after the configuration class: ``BertConfig`` gives ``BertExportTest``. A type of
    another transformers is left out; `export-harness coverage` tells those that no supported
    version has.

    Args:
        module_name: ``__name__`` of the module that puts them into its ``globals()``, where the
            process of a case looks for them.
        model_types: Model types, such as ``bert``.
    """
    try:
        own = dict(_own_classes(model_types))
    except TransformersMissingError:
        # One test of this class says so, and is skipped.
        return {"ExportTest": _test_class("ExportTest", module_name, model_type="bert")}
    names = _names(own)
    return {
        names[kind]: _test_class(
            names[kind], module_name, model_type=kind, all_model_classes=classes
        )
        for kind, classes in own.items()
    }


def unsorted_types(listed: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Model types of the installed transformers that are in none of the lists."""
    known = {kind for kinds in listed for kind in kinds}
    try:
        return tuple(kind for kind in auto_classes.model_types() if kind not in known)
    except TransformersMissingError:
        return ()


def _own_classes(model_types: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    installed = frozenset(auto_classes.model_types())
    for kind in dict.fromkeys(model_types):
        if kind in installed and (classes := auto_classes.own_classes(kind)):
            yield kind, classes


def _names(model_types: Iterable[str]) -> dict[str, str]:
    """Names of test classes; types that share a configuration are named after themselves."""
    configs = {kind: auto_classes.config_class_of(kind) for kind in model_types}
    shared = {name for name, count in Counter(configs.values()).items() if count > 1}
    stems = {
        kind: _camel(kind) if name is None or name in shared else name.removesuffix("Config")
        for kind, name in configs.items()
    }
    return {kind: f"{stem}ExportTest" for kind, stem in stems.items()}


def _camel(model_type: str) -> str:
    """``dab-detr`` as ``DabDetr``."""
    words = model_type.replace("-", "_").replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _test_class(name: str, module_name: str, **attributes: Any) -> type:
    namespace = {"__module__": module_name, "__qualname__": name, **attributes}
    classes = attributes.get("all_model_classes", ())
    generates = classes and not auto_classes.generative_classes().isdisjoint(classes)
    generation = (ExportGenerateTesterMixin,) if generates else ()
    return type(name, (ExportTesterMixin, *generation, unittest.TestCase), namespace)
