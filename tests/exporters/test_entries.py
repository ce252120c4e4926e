"""Backends of other packages: found, checked, and left out where they are broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import exporters
from exporters.base import Backend, ExportedModel, ExportOptions, Variant
from exporters.entries import RESERVED, BackendEntryError
from testing.scopes import Scope, vocabulary

ROOT = Path(__file__).parents[2]

BACKEND = """
from exporters.base import Backend, Variant

class {name}Backend(Backend):
    name = test_prefix = "{name}"
    variants = (Variant(dynamic=False),)
    def resolve_runtime(self, requested="auto"): return None
    def tolerance(self, runtime): return 1e-4
    def export(self, model, inputs, options): raise NotImplementedError
"""


class GoodBackend(Backend):
    name = "good"
    test_prefix = "good"
    variants: tuple[Variant, ...] = (Variant(dynamic=False, delegate="swift"),)

    def resolve_runtime(self, requested: str = "auto") -> str | None:
        return None

    def tolerance(self, runtime: str | None) -> float:
        return 1e-4

    def export(self, model: object, inputs: object, options: ExportOptions) -> ExportedModel:
        raise NotImplementedError


class TakenPrefix(GoodBackend):
    test_prefix = "torch"


class NoPrefix(GoodBackend):
    test_prefix = "Not A Word"


class NoVariants(GoodBackend):
    variants = ()


class TwiceTheSame(GoodBackend):
    variants = (Variant(dynamic=False), Variant(dynamic=False))


class TakenRuntime(GoodBackend):
    runtimes = ("static",)


class TakenDelegate(GoodBackend):
    variants = (Variant(dynamic=False, delegate="onnx"),)


class NamedStatic(GoodBackend):
    name = "static"


class NamedXnnpack(GoodBackend):
    name = "xnnpack"


class Abstract(Backend):
    name = test_prefix = "good"
    variants = (Variant(dynamic=False),)


class RaisesWhenMade(GoodBackend):
    def __init__(self) -> None:
        raise OSError("no license")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = dict(exporters.BACKENDS)
    yield
    exporters.BACKENDS.clear()
    exporters.BACKENDS.update(before)


class TestRegister:
    def test_a_class_is_a_backend_like_the_others(self) -> None:
        exporters.register("good", GoodBackend)
        assert isinstance(exporters.get_backend("good"), GoodBackend)
        assert Scope.parse("good.swift.dynamic").backend == "good"

    def test_a_place_is_as_good_as_the_class(self) -> None:
        exporters.register("good", f"{__name__}:GoodBackend")
        exporters.register("good", GoodBackend)
        assert isinstance(exporters.get_backend("good"), GoodBackend)

    @pytest.mark.parametrize(
        ("name", "backend", "told"),
        [
            ("onnx", GoodBackend, "there is one of that name, exporters.onnx:OnnxBackend"),
            ("better", GoodBackend, "its class calls itself 'good'"),
            ("static", NamedStatic, "a lower-case word that scopes have for nothing else"),
            ("good", TakenPrefix, "test_prefix 'torch' is that of the backend 'dynamo'"),
            ("good", NoPrefix, "test_prefix 'Not A Word' is no lower-case word"),
            ("good", NoVariants, "variants is a tuple of exporters.base.Variant, at least one"),
            ("good", TwiceTheSame, "two of its variants are the same"),
            ("good", TakenRuntime, "its runtime 'static' is called like a backend"),
            ("good", TakenDelegate, "its runtime 'onnx' is called like a backend"),
            ("xnnpack", NamedXnnpack, "a runtime or delegate of the backend 'executorch'"),
            ("good", Abstract, "it does not define export, resolve_runtime, tolerance"),
            ("good", RaisesWhenMade, "OSError: no license"),
            ("good", "no.such.module:X", "ModuleNotFoundError: No module named 'no'"),
            ("good", "pathlib:Path", "it is no subclass of exporters.base.Backend"),
            ("good", "pathlib", "it is declared as 'package.module:Class'"),
            ("good", "pathlib:Nothing", "AttributeError: module 'pathlib' has no attribute"),
        ],
    )
    def test_what_is_not_right_is_refused_and_named(
        self, name: str, backend: str | type[Backend], told: str
    ) -> None:
        with pytest.raises(BackendEntryError) as raised:
            exporters.register(name, backend)
        assert str(raised.value).startswith(f"backend {name!r} of exporters.register (")
        assert told in str(raised.value)
        assert name not in exporters.BACKENDS or name == "onnx"

    def test_no_backend_is_called_like_a_facet(self) -> None:
        facets = {
            word for word, kind in vocabulary().items() if kind not in ("backend", "runtime")
        }
        assert facets | {"all"} <= RESERVED


def distribution(site: Path, name: str, entries: str, module: str = "") -> None:
    """What pip leaves of a package that declares backends."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[export_harness.backends]\n{entries}\n")
    (site / f"{name}.py").write_text(module)


def python(site: Path, code: str) -> str:
    code = f"import sys; sys.path[:0] = [{str(site)!r}, {str(ROOT)!r}]\n{code}"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class TestEntryPoints:
    def test_they_are_read_when_backends_are_asked_for_and_without_torch(
        self, tmp_path: Path
    ) -> None:
        distribution(tmp_path, "mine", "mine = mine:mineBackend", BACKEND.format(name="mine"))
        told = python(
            tmp_path,
            "import exporters.base\n"
            "print('mine' in sys.modules)\n"
            "print(exporters.get_backend('mine').name)\n"
            "print(list(exporters.BACKENDS)[-1], exporters.BROKEN, 'torch' in sys.modules)\n",
        )
        assert told == "False\nmine\nmine {} False\n"

    def test_a_broken_one_is_left_out_and_named_and_the_others_are_there(
        self, tmp_path: Path
    ) -> None:
        distribution(tmp_path, "bad", "bad = bad:Bad", "raise SystemExit('no device')")
        distribution(tmp_path, "fine", "fine = fine:fineBackend", BACKEND.format(name="fine"))
        told = python(
            tmp_path,
            "from exporters import BACKENDS, BROKEN, get_backend\n"
            "print('bad' in BACKENDS, 'fine' in BACKENDS, 'neuron' in BACKENDS)\n"
            "print(BROKEN['bad'])\n"
            "try: get_backend('bad')\n"
            "except Exception as error: print(error is BROKEN['bad'])\n",
        )
        assert told == (
            "False True True\n"
            "backend 'bad' of distribution bad 1.0 (bad:Bad): SystemExit: no device\n"
            "True\n"
        )

    def test_of_two_of_one_name_chance_chooses_none(self, tmp_path: Path) -> None:
        for name in ("first", "second"):
            distribution(tmp_path, name, f"same = {name}:sameBackend", BACKEND.format(name="same"))
        told = python(tmp_path, "from exporters import BROKEN\nprint(BROKEN['same'])")
        assert told == (
            "backend 'same' of distribution first 1.0 (first:sameBackend): distribution second "
            "1.0 has one of that name too: remove one of them\n"
        )

    def test_one_that_is_called_like_ours_does_not_take_its_place(self, tmp_path: Path) -> None:
        distribution(tmp_path, "onnx2", "onnx = onnx2:onnxBackend", BACKEND.format(name="onnx"))
        told = python(
            tmp_path, "from exporters import BACKENDS, BROKEN\nprint(BACKENDS['onnx'], BROKEN)"
        )
        assert told.startswith("exporters.onnx:OnnxBackend ")
        assert "distribution onnx2 1.0" in told
