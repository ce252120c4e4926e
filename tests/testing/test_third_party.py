"""A backend of another package, installed beside the harness: the example of the documentation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from exporters.distributions import version_of
from testing import journal
from testing.results import Outcome

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "third_party_backend"
OLDEST = "70.1"
"""First setuptools that builds a wheel without the package wheel."""

TEST = """
import unittest
from testing.mixin import ExportTesterMixin

class ATest(ExportTesterMixin, unittest.TestCase):
    all_model_classes = ("BertModel", "ViTModel")
"""
SKIPS = """
EXPORT_SKIPS = {"torchscript.dynamic": {"ViTModel": "not tried"}}
TOLERANCES = {}
ONNX_DISABLE_OPTIMIZE = {}
"""

needs_setuptools = pytest.mark.skipif(
    Version(version_of("setuptools") or "0") < Version(OLDEST),
    reason=f"setuptools is older than {OLDEST} and builds no wheel",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has installed the package, without a network."""
    source = tmp_path_factory.mktemp("source") / "package"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path_factory.mktemp("site")
    options = ["--no-deps", "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *options],
        check=True,
        env={**os.environ, "PIP_NO_INDEX": "1"},
    )
    return target


def run(site: Path, directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_setuptools
def test_the_whole_mixin_runs_with_it(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TEST)
    (tmp_path / "my_skips.py").write_text(SKIPS)
    options = ["-p", "testing.plugin", "-p", "no:hypothesispytest", "-o", "filterwarnings="]
    options += ["-o", "export_skips=my_skips.py", "--strict-markers", "--slow", "-rs"]
    chosen = ["-m", "torchscript_export_test", "--backend", "torchscript", "--results", "results"]
    ended = run(site, tmp_path, "pytest", *options, *chosen)
    found = {
        row.case_id.rpartition("::")[2]: (row.outcome, row.scope, bool(row.metrics))
        for row in journal.read(tmp_path / "results")
    }
    passed = (Outcome.PASSED, None, True)
    assert found == {
        "test_torchscript_export_static_BertModel": passed,
        "test_torchscript_export_dynamic_BertModel": passed,
        "test_torchscript_export_static_ViTModel": passed,
        "test_torchscript_export_dynamic_ViTModel": (
            Outcome.SKIPPED,
            "torchscript.dynamic",
            False,
        ),
    }, ended.stdout
    assert ended.returncode == 0
    assert "not tried" in ended.stdout


@needs_setuptools
def test_the_command_line_knows_it(site: Path, tmp_path: Path) -> None:
    (tmp_path / "skips.py").write_text(SKIPS)
    explain = ["skips", "explain", "ViTModel", "--backend", "torchscript", "--skips", "skips.py"]
    told = run(site, tmp_path, "testing.cli", *explain).stdout
    assert "  torchscript static   runs" in told
    assert "  torchscript dynamic  skipped  entries 1" in told


def test_one_that_is_broken_is_told_and_the_others_are_collected(tmp_path: Path) -> None:
    info = tmp_path / "site" / "bad-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[export_harness.backends]\nbad = no_such:Bad\n")
    (tmp_path / "test_a.py").write_text(TEST)
    plugin = ["-p", "testing.plugin", "-p", "no:hypothesispytest"]
    problem = (
        "backend 'bad' of distribution bad 2.0 (no_such:Bad): ModuleNotFoundError: "
        "No module named 'no_such'"
    )
    ended = run(tmp_path / "site", tmp_path, "pytest", *plugin, "--collect-only", "-q")
    assert "test_neuron_export_static_BertModel" in ended.stdout
    assert problem in ended.stdout
    assert ended.returncode == 0
    asked = run(tmp_path / "site", tmp_path, "pytest", *plugin, "--backend", "bad")
    assert problem in asked.stderr
    assert asked.returncode == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("name", ["pyproject.toml", "torchscript_backend.py"])
def test_the_documentation_shows_the_files_as_they_are(name: str) -> None:
    shown = (ROOT / "docs" / "write-a-backend.md").read_text()
    assert f"```{'toml' if name.endswith('toml') else 'python'}\n" in shown
    assert (PACKAGE / name).read_text() in shown
