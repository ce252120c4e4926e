"""The command line: its exit statuses, how fast it starts, and the lists of names."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import auto_classes, cli, released
from testing.commands.base import Status, UsageError, add_json
from testing.released import lists


def command(run: Any, name: str = "double") -> Any:
    """A double of a module of `testing.commands`."""
    return types.SimpleNamespace(
        NAME=name, SUMMARY="A double.", add_arguments=lambda parser: None, run=run
    )


@pytest.fixture
def installed_double(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(cli, "_commands", lambda: found)
    return found


class TestExitStatus:
    def test_it_is_what_the_command_returns(self, installed_double: list[Any]) -> None:
        installed_double.append(command(lambda options: Status.FINDINGS))
        assert cli.main(["double"]) == 1

    def test_wrong_use_is_told_without_a_traceback(
        self, installed_double: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        def run(options: argparse.Namespace) -> Status:
            raise UsageError("no such class")

        installed_double.append(command(run))
        assert cli.main(["double"]) == 2
        assert capsys.readouterr().err == "export-harness: error: no such class\n"

    @pytest.mark.parametrize("argv", [[], ["unheard-of"], ["names", "--unheard-of"]])
    def test_so_is_what_the_parser_refuses(self, argv: list[str]) -> None:
        assert cli.main(argv) == 2

    def test_help_is_no_wrong_use(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["--help"]) == 0
        assert "names" in capsys.readouterr().out

    def test_an_interrupted_command_ends_as_a_shell_has_it(
        self, installed_double: list[Any]
    ) -> None:
        def run(options: argparse.Namespace) -> Status:
            raise KeyboardInterrupt

        installed_double.append(command(run))
        assert cli.main(["double"]) == 130

    def test_a_reader_that_has_enough_is_no_error(self) -> None:
        shell = f"set -o pipefail; {sys.executable} -m testing.cli names --json | true"
        ended = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


class TestJson:
    def test_every_command_takes_it(self) -> None:
        needed = {"check": ["a/checkpoint"]}
        for module in cli._commands():
            argv = [module.NAME, *needed.get(module.NAME, []), "--json"]
            assert cli._parser().parse_args(argv).json is True

    def test_it_is_off_by_default(self) -> None:
        assert cli._parser().parse_args(["names"]).json is False

    def test_a_command_of_a_command_takes_it_too(self, installed_double: list[Any]) -> None:
        def add_arguments(parser: argparse.ArgumentParser) -> None:
            add_json(parser.add_subparsers().add_parser("lint"))

        double = command(lambda options: Status.WELL)
        double.add_arguments = add_arguments
        installed_double.append(double)
        for argv in (["double", "--json", "lint"], ["double", "lint", "--json"]):
            assert cli._parser().parse_args(argv).json is True


def test_it_starts_without_torch_transformers_and_rich() -> None:
    code = (
        "import sys; from testing import cli; assert cli.main(['names']) == 0;"
        "loaded = {'torch', 'transformers', 'rich', 'pytest'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


NAMES = {"alpha": ("AlphaModel", "AlphaForCausalLM"), "beta-text": ("BetaModel",)}


@pytest.fixture
def handmade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lists of two versions, and a transformers of a third."""
    (tmp_path / "4.9.json").write_text(released.text_of({"old": ("OldModel",)}))
    (tmp_path / "4.10.json").write_text(released.text_of(NAMES))
    monkeypatch.setattr(lists, "DIRECTORY", tmp_path)
    monkeypatch.setattr(auto_classes, "model_types", lambda: ("new",))
    monkeypatch.setattr(auto_classes, "classes_of", lambda kind: ("NewModel",))
    for cached in (lists.classes_by_type, lists._known):
        cached.cache_clear()
    yield tmp_path
    for cached in (lists.classes_by_type, lists._known):
        cached.cache_clear()


class TestReleasedNames:
    def test_a_model_type_is_a_line(self) -> None:
        assert released.text_of(NAMES) == (
            '{\n"alpha": ["AlphaModel", "AlphaForCausalLM"],\n"beta-text": ["BetaModel"]\n}\n'
        )

    @pytest.mark.usefixtures("handmade")
    def test_versions_are_in_the_order_of_their_release(self) -> None:
        assert released.versions() == ("4.9", "4.10")

    @pytest.mark.usefixtures("handmade")
    def test_known_is_what_any_version_has_and_what_is_installed(self) -> None:
        assert released.model_types() == {"alpha", "beta-text", "old", "new"}
        assert released.classes() >= {"OldModel", "BetaModel", "NewModel"}

    @pytest.mark.usefixtures("handmade")
    def test_a_name_is_told_with_the_versions_that_have_it(self) -> None:
        assert released.versions_with("OldModel") == ("4.9",)
        assert released.versions_with("beta-text") == ("4.10",)
        assert released.versions_with("BetaModle") == ()
        assert released.nearest("BetaModle")[0] == "BetaModel"

    @pytest.mark.usefixtures("handmade")
    def test_a_version_without_a_list_is_an_error_that_says_how_to_make_one(self) -> None:
        with pytest.raises(
            released.UnsupportedVersionError, match="5.0.*4.9, 4.10.*names --write"
        ):
            released.classes_by_type("5.0")

    def test_what_is_written_is_read_again(self, handmade: Path) -> None:
        path = released.write(handmade)
        assert released.classes_by_type(path.stem) == {"new": ("NewModel",)}

    def test_the_list_of_what_is_installed_is_as_committed(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["names", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["differences"] == []

    def test_a_list_that_is_out_of_date_is_a_finding(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stale = {**released.installed(), "bert": ("BertModle",), "gone": ("GoneModel",)}
        del stale["gpt2"]
        monkeypatch.setattr(released, "classes_by_type", lambda version: stale)
        assert cli.main(["names"]) == 1
        told = capsys.readouterr().out.splitlines()
        assert told[0].startswith("bert: listed with BertModle; it has BertModel, ")
        assert told[1:] == ["gone: in the list, and not in transformers", "gpt2: not in the list"]
