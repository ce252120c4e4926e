"""Model classes of the installed transformers, read with `ast`: it is not imported."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

__all__ = [
    "TransformersMissingError",
    "UnknownModelTypeError",
    "classes_of",
    "config_class_of",
    "generative_classes",
    "known_classes",
    "model_type_of",
    "model_types",
    "model_types_of",
    "module_of",
    "nearest",
    "own_classes",
    "transformers_root",
]

_MODEL_TABLE = re.compile(r"MODEL_(\w+_)?NAMES")
# What `generate` serves. Of a class that a mapping has and that turns out not to generate, or
# to keep nothing from step to step, the case itself says so.
_GENERATIVE = re.compile(
    r"MODEL_FOR_(CAUSAL_LM|SEQ_TO_SEQ_CAUSAL_LM|SPEECH_SEQ_2_SEQ|VISION_2_SEQ"
    r"|IMAGE_TEXT_TO_TEXT|MULTIMODAL_LM)_MAPPING_NAMES"
)
_AUTO = Path("models", "auto")
_CLASS = re.compile(rb"^class (\w+)", re.MULTILINE)


class TransformersMissingError(ImportError):
    """transformers is not installed, so that its model classes cannot be listed."""

    def __init__(self) -> None:
        super().__init__("transformers is not installed; install it with: make models")


class UnknownModelTypeError(LookupError):
    """The auto mappings of the installed transformers give this model type no class."""

    def __init__(self, model_type: str) -> None:
        close = difflib.get_close_matches(model_type, model_types(), n=3)
        hint = f"; nearest: {', '.join(close)}" if close else ""
        super().__init__(f"transformers has no model type {model_type!r}{hint}")
        self.model_type = model_type


def transformers_root() -> Path:
    """Directory of the installed transformers.

    Raises:
        TransformersMissingError: It is not installed.
    """
    return _root(importlib.util.find_spec, tuple(sys.path))


def model_types() -> tuple[str, ...]:
    """Every model type that an auto mapping gives a class, in the order of the mappings."""
    return tuple(_classes_by_type(transformers_root()))


def classes_of(model_type: str) -> tuple[str, ...]:
    """Every class that the auto mappings give `model_type`, in their order.

    Raises:
        UnknownModelTypeError: No mapping has it; the message names the nearest.
    """
    classes = _classes_by_type(transformers_root()).get(model_type)
    if classes is None:
        raise UnknownModelTypeError(model_type)
    return classes


def own_classes(model_type: str) -> tuple[str, ...]:
    """Those of its classes that belong to no other model type; see `model_type_of`.

    A type that only borrows classes, as ``code_llama`` does, has none.

    Raises:
        UnknownModelTypeError: No mapping has it; the message names the nearest.
    """
    classes = classes_of(model_type)
    owners = _owners(transformers_root())
    return tuple(name for name in classes if owners[name] == model_type)


def config_class_of(model_type: str) -> str | None:
    """Name of its configuration class, such as ``BertConfig``; None where the mapping has none."""
    return _config_classes(transformers_root()).get(model_type)


def known_classes() -> frozenset[str]:
    """Every class that an auto mapping reaches."""
    return frozenset(_types_by_class(transformers_root()))


def generative_classes() -> frozenset[str]:
    """The classes of the auto mappings whose models generate: causal, seq2seq, speech, images."""
    return _generative(transformers_root())


def model_types_of(model_class: str) -> tuple[str, ...]:
    """Every model type that is mapped to `model_class`; empty when none is."""
    return _types_by_class(transformers_root()).get(model_class, ())


def model_type_of(model_class: str) -> str | None:
    """The model type that `model_class` belongs to, or None.

    Where several types share a class (``bart`` serves others), it is the one whose package
    defines it.
    """
    return _owners(transformers_root()).get(model_class)


def module_of(model_class: str) -> str | None:
    """Module that defines `model_class`, "transformers.models.bert.modeling_bert", or None."""
    return _module_of(transformers_root(), model_class)


def nearest(name: str, count: int = 3) -> list[str]:
    """The known class names most like `name`, best first."""
    return difflib.get_close_matches(name, sorted(known_classes()), n=count)


@cache
def _root(find_spec: Callable[[str], ModuleSpec | None], search_path: tuple[str, ...]) -> Path:
    # It is asked for a thousand times while pytest collects, and each look takes 0.2 ms.
    # A dotted name ("transformers.models") would import the package, and torch with it.
    spec = find_spec("transformers")
    if spec is None or spec.origin is None:
        raise TransformersMissingError
    return Path(spec.origin).parent


@cache
def _classes_by_type(root: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for table, entries in _tables(root / _AUTO / "modeling_auto.py"):
        if _MODEL_TABLE.fullmatch(table):
            for model_type, names in entries:
                found.setdefault(model_type, {}).update(dict.fromkeys(names))
    return {model_type: tuple(names) for model_type, names in found.items()}


@cache
def _generative(root: Path) -> frozenset[str]:
    tables = _tables(root / _AUTO / "modeling_auto.py")
    found = (entries for table, entries in tables if _GENERATIVE.fullmatch(table))
    return frozenset(name for entries in found for _, names in entries for name in names)


@cache
def _types_by_class(root: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for model_type, names in _classes_by_type(root).items():
        for name in names:
            found.setdefault(name, []).append(model_type)
    return {name: tuple(types) for name, types in found.items()}


@cache
def _owners(root: Path) -> dict[str, str]:
    """The model type that each class belongs to."""
    return {name: _owner(root, name, types) for name, types in _types_by_class(root).items()}


def _owner(root: Path, model_class: str, types: tuple[str, ...]) -> str:
    if len(types) == 1:
        return types[0]
    module = _module_of(root, model_class) or ""
    packages = {kind: f"transformers.models.{_package(root, kind)}." for kind in types}
    return next((kind for kind in types if module.startswith(packages[kind])), types[0])


@cache
def _package(root: Path, model_type: str) -> str:
    """Package of a model type below ``transformers.models``."""
    name = _special_packages(root).get(model_type, model_type.replace("-", "_"))
    is_deprecated = (root / "models" / "deprecated" / name).is_dir()
    return f"deprecated.{name}" if is_deprecated else name


@cache
def _special_packages(root: Path) -> dict[str, str]:
    return _configuration_table(root, "SPECIAL_MODEL_TYPE_TO_MODULE_NAME")


@cache
def _config_classes(root: Path) -> dict[str, str]:
    return _configuration_table(root, "CONFIG_MAPPING_NAMES")


def _configuration_table(root: Path, name: str) -> dict[str, str]:
    # transformers 5 keeps these tables in a file of their own and adds to them in the other.
    files = [root / _AUTO / file for file in ("auto_mappings.py", "configuration_auto.py")]
    return {
        model_type: names[0]
        for file in files
        if file.exists()
        for table, entries in _tables(file)
        if table == name
        for model_type, names in entries
    }


@cache
def _module_of(root: Path, model_class: str) -> str | None:
    own = (
        file
        for model_type in _types_by_class(root).get(model_class, ())
        for file in _modeling_files(root / "models" / Path(*_package(root, model_type).split(".")))
    )
    files = (file for file in own if model_class in _defined_in(file))
    found = next(files, None) or _files_by_class(root).get(model_class)
    if found is None:
        return None
    return ".".join(("transformers", *found.relative_to(root).with_suffix("").parts))


@cache
def _files_by_class(root: Path) -> dict[str, Path]:
    """Where each class is defined; read once, for what its own packages do not have."""
    files = reversed(_modeling_files(root / "models"))
    return {name: file for file in files for name in _defined_in(file)}


def _modeling_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("modeling_*.py"))


@cache
def _defined_in(file: Path) -> frozenset[str]:
    """Names of the classes at the top of a module; a pattern is quicker here than a parser."""
    return frozenset(name.decode() for name in _CLASS.findall(file.read_bytes()))


@cache
def _tables(file: Path) -> tuple[tuple[str, tuple[tuple[str, list[str]], ...]], ...]:
    """Every ``NAME = OrderedDict([(key, value), …])`` and ``NAME.update({…})`` of a module."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    named = [(name, value) for statement in body for name, value in _filled(statement)]
    return tuple((name, tuple(_entries(value))) for name, value in named)


def _filled(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=[value]
            )
        ):
            yield name, value


def _entries(value: ast.expr) -> Iterator[tuple[str, list[str]]]:
    """The literal entries in an expression; what is computed at import is not seen."""
    for node in ast.walk(value):
        pairs: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.List):
            pairs = [pair for element in node.elts if (pair := _as_pair(element))]
        for key, item in pairs:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, _strings(item)


def _as_pair(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        return node.elts[0], node.elts[1]
    return None


def _strings(node: ast.expr) -> list[str]:
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [value for value in found if isinstance(value, str)]
