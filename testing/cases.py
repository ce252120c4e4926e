"""One case: a model class, a backend and a variant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from exporters import BACKENDS, get_backend
from exporters.base import Backend, Variant
from testing import auto_classes
from testing.auto_classes import TransformersMissingError

__all__ = ["ExportCase", "cases_of", "variants_of"]


@dataclass(frozen=True)
class ExportCase:
    """What one pytest item exports and compares.

    Attributes:
        model_class: Name of the model class, such as ``BertForMaskedLM``.
        model_type: transformers' model type, such as ``bert``; None when only its test knows it.
        backend: Name of the backend.
        runtime: Runtime of the backend (``xla``, ``neuronx``), once it is resolved.
        delegate: Delegate of the backend (``xnnpack``, ``mlx``), where it has them.
        dynamic: Whether sizes other than the traced ones are run.
        generate: Whether generation's components are exported instead of one forward.
        static_cache: Whether generation uses a cache of fixed size.
    """

    model_class: str
    model_type: str | None
    backend: str
    runtime: str | None = None
    delegate: str | None = None
    dynamic: bool = False
    generate: bool = False
    static_cache: bool = False

    @classmethod
    def of(
        cls, model_class: str, model_type: str | None, backend: Backend, variant: Variant
    ) -> ExportCase:
        """The case of one class under one variant of a backend, its runtime still open."""
        return cls(
            model_class=model_class,
            model_type=model_type,
            backend=backend.name,
            delegate=variant.delegate,
            dynamic=variant.dynamic,
            generate=variant.generate,
            static_cache=variant.static_cache,
        )

    @property
    def as_variant(self) -> Variant:
        """The variant of its backend that it is."""
        return Variant(self.dynamic, self.generate, self.static_cache, self.delegate)

    @property
    def variant(self) -> str:
        """``dynamic`` or ``static``."""
        return "dynamic" if self.dynamic else "static"

    def test_name(self, test_prefix: str) -> str:
        """Name of the pytest item, ``test_neuron_export_dynamic_BertModel`` for example."""
        parts = ["test", test_prefix, "export"]
        parts += ["generate"] if self.generate else []
        parts += [self.variant]
        parts += ["static_cache"] if self.static_cache else []
        parts += [self.delegate] if self.delegate else []
        return "_".join([*parts, self.model_class])


def cases_of(model_class: str, model_type: str | None = None) -> Iterator[ExportCase]:
    """Every case of a class under the backends that are written, with each of their runtimes."""
    for backend in map(get_backend, BACKENDS):
        for runtime in backend.runtimes or (None,):
            for variant in variants_of(backend, model_class):
                case = ExportCase.of(model_class, model_type, backend, variant)
                yield dataclasses.replace(case, runtime=runtime)


def variants_of(backend: Backend, model_class: str) -> Iterator[Variant]:
    """The variants of a backend that a class has: those of generation only where it generates."""
    generates = _generates(model_class)
    yield from (v for v in backend.variants if generates or not v.generate)


def _generates(model_class: str) -> bool:
    try:
        return model_class in auto_classes.generative_classes()
    except TransformersMissingError:
        return False
