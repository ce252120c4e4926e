"""The model classes that a test class names, read when it is defined."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from testing import auto_classes
from testing.auto_classes import TransformersMissingError

__all__ = [
    "DuplicateModelClassError",
    "ModelClass",
    "declared_classes",
    "generative_classes",
    "unknown_class",
]

# Of transformers' CausalLMModelTester and VLMModelTester, in their order; a tester may set only
# the base class and leave the others to be found beside it, under their usual names.
_TESTER_CLASSES = {
    "base_model_class": "",
    "causal_lm_class": "ForCausalLM",
    "question_answering_class": "ForQuestionAnswering",
    "sequence_classification_class": "ForSequenceClassification",
    "token_classification_class": "ForTokenClassification",
    "conditional_generation_class": "ForConditionalGeneration",
}


_THEIR_MIXIN = "GenerationTesterMixin"


class DuplicateModelClassError(TypeError):
    """Two model classes of one test class have the same name, so their tests would too."""


@dataclass(frozen=True)
class ModelClass:
    """A model class of a test class.

    Attributes:
        name: Its name, which scopes, tests and results use.
        model_type: transformers' model type, when it is known.
        type: The class itself where the test class holds it, and not only its name.
    """

    name: str
    model_type: str | None = None
    type: type | None = None


def declared_classes(test_class: type) -> tuple[ModelClass, ...]:
    """What ``all_model_classes``, else ``model_type``, else ``model_tester_class`` names.

    Raises:
        DuplicateModelClassError: Two of them have one name.
        UnknownModelTypeError: transformers has no such model type.
        TransformersMissingError: The classes of a model type were asked for without it.
    """
    given = getattr(test_class, "all_model_classes", None)
    model_type = getattr(test_class, "model_type", None)
    if isinstance(given, str):
        raise TypeError(f"{test_class.__qualname__}.all_model_classes must be a sequence")
    if isinstance(given, Iterable):
        found = list(given)
    elif model_type is not None:
        found = list(auto_classes.classes_of(model_type))
    else:
        found = list(_of_tester(getattr(test_class, "model_tester_class", None)))
    _require_distinct(test_class, found)
    return tuple(_model_class(item, model_type) for item in found)


def generative_classes(test_class: type) -> tuple[ModelClass, ...]:
    """What ``all_generative_model_classes`` names, else those of `declared_classes` that generate.

    The empty default of transformers' ``GenerationTesterMixin`` names nothing.

    Raises:
        DuplicateModelClassError: Two of them have one name.
        UnknownModelTypeError: transformers has no such model type.
        TransformersMissingError: The classes of a model type were asked for without it.
    """
    given = _given_generative(test_class)
    if given is None:
        return tuple(model for model in declared_classes(test_class) if _generates(model))
    found = list(given)
    _require_distinct(test_class, found)
    model_type = getattr(test_class, "model_type", None)
    return tuple(_model_class(item, model_type) for item in found)


def unknown_class(name: str) -> str | None:
    """What to say of what is no model class of the installed transformers; None if it is one."""
    if name in auto_classes.known_classes() or auto_classes.module_of(name):
        return None
    close = ", ".join(auto_classes.nearest(name))
    hint = f"; nearest: {close}" if close else ""
    return f"transformers has no model class {name!a}{hint}"


def _given_generative(test_class: type) -> Iterable[type | str] | None:
    name = "all_generative_model_classes"
    for base in test_class.__mro__:
        given = vars(base).get(name)
        if isinstance(given, str):
            raise TypeError(f"{test_class.__qualname__}.{name} must be a sequence")
        if isinstance(given, Iterable) and base.__name__ != _THEIR_MIXIN:
            return given
    return None


def _generates(model: ModelClass) -> bool:
    asked = getattr(model.type, "can_generate", None)
    return bool(asked()) if callable(asked) else model.name in auto_classes.generative_classes()


def _of_tester(tester: type | None) -> Iterator[type | str]:
    base = getattr(tester, "base_model_class", None)
    for attribute, suffix in _TESTER_CLASSES.items():
        found = getattr(tester, attribute, None) or _beside(base, suffix)
        if found is not None:
            yield found


def _beside(base: type | str | None, suffix: str) -> type | None:
    """The class of a task in the module of the base class, ``LlamaForCausalLM`` for example."""
    if not isinstance(base, type) or not suffix:
        return None
    name = base.__name__.removesuffix("Model") + suffix
    found = getattr(sys.modules[base.__module__], name, None)
    return found if isinstance(found, type) else None


def _require_distinct(test_class: type, found: list[type | str]) -> None:
    seen: dict[str, type | str] = {}
    for item in found:
        name = _name(item)
        if name in seen:
            raise DuplicateModelClassError(
                f"{test_class.__module__}.{test_class.__qualname__}: {_full(seen[name])} and "
                f"{_full(item)} give tests of one name; put one of them in another test class"
            )
        seen[name] = item


def _model_class(item: type | str, model_type: str | None) -> ModelClass:
    given = item if isinstance(item, type) else None
    name = _name(item)
    return ModelClass(name, model_type or _own_type(given) or _type_of(name), given)


def _own_type(given: type | None) -> str | None:
    return getattr(getattr(given, "config_class", None), "model_type", None)


def _type_of(name: str) -> str | None:
    try:
        return auto_classes.model_type_of(name)
    except TransformersMissingError:
        return None


def _name(item: type | str) -> str:
    return item if isinstance(item, str) else item.__name__


def _full(item: type | str) -> str:
    return repr(item) if isinstance(item, str) else f"{item.__module__}.{item.__qualname__}"
