"""Which environment `make` takes, asked of make itself without installing anything."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def environment(directory: Path, neuronx: str | None) -> Path:
    """A virtual environment without pip that holds torch-neuronx of a version, or none."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    if neuronx is not None:
        (site,) = directory.glob("lib/python3*/site-packages")
        info = site / f"torch_neuronx-{neuronx}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: torch-neuronx\nVersion: {neuronx}\n"
        )
        (site / "torch_neuronx").mkdir()
        (site / "torch_neuronx" / "__init__.py").touch()
    return directory


def make(*arguments: str, active: Path) -> str:
    """What make would do with `active` as the active environment."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("VENV", "MAKEFLAGS", "MFLAGS")}
    path = f"{active}/bin{os.pathsep}{os.environ['PATH']}"
    command = ["make", "-C", str(ROOT), "--dry-run", "--always-make", *arguments]
    done = subprocess.run(
        command, env={**inherited, "PATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout


def python_of(printed: str) -> str:
    (python,) = set(re.findall(r"^(\S+) -m pytest", printed, re.MULTILINE))
    return python


def pins(printed: str) -> bool:
    """Whether the branch that pins everything installed is the one taken."""
    (answer,) = re.findall(r'if \[ "(\w*)" = yes \]', printed)
    return answer == "yes"


@pytest.mark.parametrize("neuronx", [None, "1.0"], ids=["without", "empty-package-of-pypi"])
def test_active_environment_without_the_real_torch_neuronx_is_left_alone(
    tmp_path: Path, neuronx: str | None
) -> None:
    printed = make("test", active=environment(tmp_path / "active", neuronx))
    assert python_of(printed) == ".venv-neuron/bin/python"
    assert str(tmp_path) not in printed
    assert not pins(printed)


def test_active_environment_with_torch_neuronx_is_used_and_pinned(tmp_path: Path) -> None:
    active = environment(tmp_path / "active", "2.9.0.2.15.32035+e4f5a6b7")
    printed = make("test", active=active)
    assert Path(python_of(printed)).parent == active / "bin"
    assert pins(printed)
    assert ".venv-neuron" not in printed


def test_named_environment_comes_before_the_active_one(tmp_path: Path) -> None:
    active = environment(tmp_path / "active", "2.9.0.2.15.32035")
    named = environment(tmp_path / "named", None)
    printed = make("test", f"VENV={named}", active=active)
    assert python_of(printed) == f"{named}/bin/python"
    assert not pins(printed)


def test_named_environment_with_torch_neuronx_is_pinned_too(tmp_path: Path) -> None:
    active = environment(tmp_path / "active", None)
    named = environment(tmp_path / "named", "2.9.0.2.15.32035")
    assert pins(make("test", f"VENV={named}", active=active))


@pytest.mark.parametrize("named", ["--model-class=ViTModel", "--model-class ViTModel"])
def test_a_named_class_takes_the_place_of_the_sweeps_list(tmp_path: Path, named: str) -> None:
    active = environment(tmp_path / "active", None)
    printed = make("models", "ENV=export", f"ARGS={named} -k static", active=active)
    (line,) = re.findall(r"^\S+ -m pytest tests/models .*", printed, re.MULTILINE)
    assert "@" not in line
    assert re.findall(r"--backend=(\w+)", line) == ["dynamo", "onnx", "openvino", "executorch"]
    assert f"{named} -k static" in printed


def test_without_a_named_class_the_sweep_has_its_list(tmp_path: Path) -> None:
    active = environment(tmp_path / "active", None)
    printed = make("models", "ENV=export", "ARGS=--shard 1/10", active=active)
    assert "--slow @tests/models/export_sweep.args -n" in printed
