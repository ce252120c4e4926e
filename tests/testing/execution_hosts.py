"""Test classes and a backend whose cases end in every way; the class name says in which."""

from __future__ import annotations

import importlib.util
import os
import sys
import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

import exporters
from exporters.base import ExportedModel, ExportOptions
from testing.cases import ExportCase
from testing.subject import Subject
from tests.testing.faulty_double import FaultyDouble, FewInputs, Unchanged, UnloweredError

exporters.BACKENDS["faulty"] = f"{__name__}:FaultyBackend"

if "modeling_faulty" not in sys.modules:
    _spec = importlib.util.spec_from_file_location(
        "modeling_faulty", Path(__file__).with_name("modeling_faulty.py")
    )
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["modeling_faulty"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["modeling_faulty"])
FaultyModel: Any = sys.modules["modeling_faulty"].FaultyModel

FAULTS = {"Aborts": "abort", "Segfaults": "segfault", "Hangs": "hang", "Exits": "exit"}


class FaultyBackend(FaultyDouble):
    name = "faulty"
    test_prefix = "faulty"
    distributions = ("torch", "no-such-distribution")

    def environment(self, runtime: str | None) -> Mapping[str, str]:
        return {"FAULTY_FLAGS": "--added", "FAULTY_DEVICE": "default"}

    def export(
        self, model: torch.nn.Module, inputs: Mapping[str, Any], options: ExportOptions
    ) -> ExportedModel:
        if options.guard and model.named in ("Aborts", "Segfaults"):
            raise UnloweredError("aten::broken on linear.weight")
        model.fault = FAULTS.get(model.named)
        if options.workdir is not None:
            (options.workdir / "half-compiled").touch()
        try:
            model(**inputs)
        finally:
            model.fault = None
        return Unchanged(model)


class Host(unittest.TestCase):
    log: list[str] = []
    export_seed = 0

    @classmethod
    def setUpClass(cls) -> None:
        cls.log = ["setUpClass"]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.log.append("tearDownClass")

    def setUp(self) -> None:
        self.log.append("setUp")
        self.addCleanup(self.log.append, "cleanup")

    def tearDown(self) -> None:
        self.log.append("tearDown")

    def test_it(self) -> None:
        raise AssertionError("the child does not run the test method")

    def subject_of(self, case: ExportCase) -> Subject:
        return self.subject(case.model_class)

    def subject(self, model_class: str) -> Subject:
        self.log.append("subject")
        if model_class == "Raises":
            raise ValueError("no such model")
        if model_class == "SkipsItself":
            self.skipTest("not today")
        model = FaultyModel()
        model.named = model_class
        return Subject(model, FewInputs())


class Seeded(Host):
    def subject(self, model_class: str) -> Subject:
        if self.export_seed % 2:
            raise ValueError(f"bad under seed {self.export_seed}")
        return super().subject(model_class)


class SetUpRaises(Host):
    def setUp(self) -> None:
        super().setUp()
        raise RuntimeError("no fixture")


class SetUpSkips(Host):
    def setUp(self) -> None:
        raise unittest.SkipTest("needs a package")


class TearDownRaises(Host):
    def tearDown(self) -> None:
        super().tearDown()
        raise RuntimeError("cannot clean up")


class SetUpHangs(Host):
    def setUp(self) -> None:
        import ctypes

        ctypes.PyDLL(None).sleep(60)


class TearDownHangs(Host):
    def tearDown(self) -> None:
        import ctypes

        ctypes.PyDLL(None).sleep(60)


class SetUpExits(Host):
    def setUp(self) -> None:
        sys.exit(3)


def made_in_a_function() -> type[Host]:
    class Inner(Host):
        pass

    return Inner


Made = made_in_a_function()


class ReportsItsProcess(Host):
    def setUp(self) -> None:
        raise RuntimeError(
            f"pid {os.getpid()} {os.environ['FAULTY_FLAGS']} {os.environ['FAULTY_DEVICE']}"
        )
