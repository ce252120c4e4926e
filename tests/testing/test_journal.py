"""The journal: nothing that was appended is lost, whatever became of the writer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from testing.cases import ExportCase
from testing.journal import Journal, JournalError, read, scan
from testing.results import CaseResult, LeafMetrics, Outcome

CASE = ExportCase("BertModel", "bert", "neuron", runtime="xla")


def result(case_id: str = "a", outcome: Outcome = Outcome.PASSED, **values: Any) -> CaseResult:
    return CaseResult.of(CASE, case_id, outcome, **values)


def test_result_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "folder")
    journal.append(result())

    assert read(tmp_path / "new" / "folder") == [result()]


def test_one_line_is_one_json_object(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for case_id in ("a", 'quotes " and\nnewlines\r\u2028', "\ud800\x00"):
        journal.append(result(case_id))
    lines = journal.path.read_bytes().split(b"\n")

    assert lines.pop() == b""
    assert [json.loads(line)["case_id"] for line in lines] == [r.case_id for r in read(tmp_path)]
    assert len(lines) == 3


def test_figures_that_are_no_numbers_come_back(tmp_path: Path) -> None:
    metrics = {"logits": LeafMetrics(float("inf"), float("nan"), None, 1.0, 0.5)}
    Journal(tmp_path).append(result(metrics=metrics))
    leaf = read(tmp_path)[0].metrics["logits"]

    assert leaf.max_abs == float("inf")
    assert leaf.max_rel != leaf.max_rel
    assert (leaf.cosine, leaf.pearson) == (None, 1.0)


def test_each_worker_has_its_own_file_and_reading_merges_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Journal(tmp_path, "gw0").append(result("a"))
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    Journal(tmp_path).append(result("b"))

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "results-gw0.jsonl",
        "results-gw1.jsonl",
    ]
    assert {r.case_id for r in read(tmp_path)} == {"a", "b"}


def test_latest_attempt_of_a_case_and_component_counts(tmp_path: Path) -> None:
    # B29: crashed then passed is one row, and both tries are kept.
    journal = Journal(tmp_path, "gw1")
    journal.append(result("a", Outcome.PASSED, attempt=2))
    journal = Journal(tmp_path, "gw0")
    journal.append(result("a", Outcome.CRASHED, attempt=1))
    journal.append(result("a", Outcome.FAILED, component="decode", attempt=2))
    # In the last try the process died before it came to this one.
    journal.append(result("a", Outcome.PASSED, component="prefill"))
    contents = scan(tmp_path)

    assert {(r.component, r.outcome) for r in contents.results} == {
        (None, Outcome.PASSED),
        ("decode", Outcome.FAILED),
    }
    assert len(contents.attempts) == 4


def test_of_equal_attempts_the_last_written_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(result("a", Outcome.FAILED))
    journal.append(result("a", Outcome.PASSED))

    assert [r.outcome for r in read(tmp_path)] == [Outcome.PASSED]


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_torn_last_line_loses_only_itself(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path)
    journal.append(result("whole"))
    journal.append(result("torn"))
    os.truncate(journal.path, journal.path.stat().st_size - cut)
    contents = scan(tmp_path)

    kept = {"whole", "torn"} if cut == 1 else {"whole"}
    assert {r.case_id for r in contents.results} == kept
    assert len(contents.damaged) == (cut > 1)


def test_writing_on_after_a_torn_line_starts_a_line_of_its_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(result("torn"))
    os.truncate(journal.path, journal.path.stat().st_size - 10)
    Journal(tmp_path).append(result("next"))
    contents = scan(tmp_path)

    assert [r.case_id for r in contents.results] == ["next"]
    assert contents.damaged[0].startswith("results.jsonl:1: ")


@pytest.mark.parametrize(
    "line",
    [b"[]", b"null", b"{}", b'{"case_id": "x"}', b'{"case_id": "x", "outcome": "?"}', b"\xff\x00"],
)
def test_line_that_is_no_result_is_listed_and_hides_nothing(tmp_path: Path, line: bytes) -> None:
    journal = Journal(tmp_path)
    journal.path.write_bytes(line + b"\n")
    journal.append(result("good"))
    contents = scan(tmp_path)

    assert [r.case_id for r in contents.results] == ["good"]
    assert len(contents.damaged) == 1


def test_result_of_a_killed_writer_is_there(tmp_path: Path) -> None:
    script = f"""
import os, signal
from testing.cases import ExportCase
from testing.journal import Journal
from testing.results import CaseResult, Outcome
case = ExportCase("BertModel", "bert", "neuron", runtime="xla")
Journal({str(tmp_path)!r}).append(CaseResult.of(case, "a", Outcome.PASSED))
os.kill(os.getpid(), signal.SIGKILL)
"""
    root = Path(__file__).parents[2]
    status = subprocess.run([sys.executable, "-c", script], cwd=root, check=False).returncode

    assert status == -9
    assert read(tmp_path) == [result("a")]


def test_opening_leaves_no_file(tmp_path: Path) -> None:
    Journal(tmp_path / "out")

    assert list((tmp_path / "out").iterdir()) == []


def test_directory_in_the_place_of_the_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").mkdir()

    with pytest.raises(JournalError, match=r"cannot be written .*--results"):
        Journal(tmp_path)


def test_file_where_a_directory_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    with pytest.raises(JournalError, match=r"taken cannot be written .*--results"):
        Journal(tmp_path / "taken")


def test_full_disk_is_a_clear_error_that_names_the_case(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.path.symlink_to("/dev/full")

    with pytest.raises(
        JournalError, match=r"result of a \(passed\) cannot be written .*No space left"
    ):
        journal.append(result("a"))


def test_directory_that_does_not_exist_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no results directory"):
        read(tmp_path / "missing")


def test_empty_directory_has_no_results(tmp_path: Path) -> None:
    assert read(tmp_path) == []


def test_a_file_that_is_cut_in_its_middle_loses_only_the_torn_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(20):
        journal.append(result(f"case {number}"))
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[: len(data) // 2] + data[len(data) // 2 + 40 :])
    contents = scan(tmp_path)

    assert len(contents.results) == 19
    assert len(contents.damaged) == 1


def test_a_message_of_a_megabyte_is_one_line(tmp_path: Path) -> None:
    message = "x" * (1 << 20) + "\nend"
    Journal(tmp_path).append(result("long", message=message))
    Journal(tmp_path).append(result("next"))

    assert [row.message for row in read(tmp_path)] == [message, None]


# B46: a result that holds what JSON does not know is written all the same.
def test_what_is_no_json_becomes_text(tmp_path: Path) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    class Kind(IntEnum):
        ONE = 1

    odd: dict[str, Any] = {"stage": Path("a/b"), "exit_code": Kind.ONE, "message": Mute()}
    Journal(tmp_path).append(result("odd", **odd))
    (row,) = read(tmp_path)

    assert (row.stage, row.exit_code) == ("a/b", 1)
    assert "__str__ raised RuntimeError" in (row.message or "")


# B34: bytes that are no UTF-8, as a damaged disk leaves them.
def test_bytes_that_are_no_text_are_told_and_hide_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(result("first"))
    with open(journal.path, "ab") as file:
        file.write(b'{"case_id": "\xff\xfe"}\n')
    journal.append(result("last"))
    contents = scan(tmp_path)

    assert {row.case_id for row in contents.results} == {"first", "last"}
    assert contents.damaged[0].startswith("results.jsonl:2: ")
