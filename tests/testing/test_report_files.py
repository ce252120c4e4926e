"""What a report writes: a page, Markdown and XML that any text passes through as text.

Each is read back with a reader of another project: html.parser, markdown-it and junitparser.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from testing.faults import readable
from testing.reports import junit, markdown
from testing.reports.changes import Comparison
from testing.reports.page.page import MOST_BYTES, render
from testing.reports.report import Report
from testing.reports.sweep import Sweep
from testing.results import RUNTIME_LIMIT, CaseResult, LeafMetrics
from tests.testing.nights import crash, night, passing, row, write

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "'\"&amp;]]>",
    "\x00\x1b[31mred\x1b[0m",
    "\ud800 \udfff",
    "\u2028\u2029\ufeff\ufffe",
    "\U0001f600 e\u0301",
    "{{ 7 * 7 }} {% raw %}",
    "a | b\n| c `d` *e* _f_ [g](h) @me #1 $x$",
)

texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=60))
quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def report_of(*results: CaseResult, before: tuple[CaseResult, ...] = ()) -> Report:
    with tempfile.TemporaryDirectory() as directory:
        now = Sweep.load([write(Path(directory) / "now", results)])
        if not before:
            return Report(now)
        earlier = Sweep.load([write(Path(directory) / "before", before)])
        return Report(now, Comparison.of(now, earlier))


class Page(HTMLParser):
    """What a browser would make of a page: its scripts, its text and its links."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.policy = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        assert not any(name.startswith("on") for name in values)
        assert not {"src", "href"} & values.keys() or (values.get("href") or "").startswith("#")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.cdata_elem == "script":
            self.scripts.append(data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def cases(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(self.scripts[0])["cases"]
        return found


class TestPage:
    @quick
    @given(texts, texts, texts)
    def test_any_text_is_shown_as_text(self, message: str, name: str, kind: str) -> None:
        source = render(
            report_of(
                row(name or "A", "failed", model_type=kind, message=message, reason=message),
                passing(),
            )
        )
        source.encode("utf-8")
        page = Page(source)
        (found,) = [case for case in page.cases if case["outcome"] == "failed"]
        assert page.tags.count("script") == 2
        assert page.tags.count("img") == 0
        assert found.get("message", "") == readable(message)

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_so_is_what_stands_in_any_other_column(self, hostile: str) -> None:
        result = row(
            model_type=hostile,
            outcome="crashed",
            case_id=hostile,
            backend=hostile,
            runtime=hostile,
            variant=hostile,
            stage=hostile,
            signal=hostile,
            op=hostile,
            operand=hostile,
            source=hostile,
            component=hostile,
            scope=hostile,
            baked_reads=[hostile],
            patches=[hostile],
            versions={hostile: hostile},
            seconds={hostile: 1.0},
            metrics={hostile: LeafMetrics(math.nan, math.inf, None, None, 0.5)},
        )
        report = report_of(result, before=(passing(),))
        page = Page(render(report))
        assert page.tags.count("script") == 2
        assert "img" not in page.tags
        ElementTree.fromstring(junit.document(report).encode())
        markdown.page(report).encode()

    def test_only_its_own_script_runs(self) -> None:
        page = Page(render(report_of(row())))
        digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in page.policy
        assert page.policy.startswith("default-src 'none';")

    def test_a_page_loads_nothing(self) -> None:
        source = render(report_of(row(), crash()))
        assert not re.search(r"https?://|url\((?!#)|@import", source)

    def test_a_night_of_2300_cases_is_under_3_mb(self) -> None:
        source = render(report_of(*night(2300)))
        assert Page(source).text.count("✓") > 1500
        assert len(source.encode()) < MOST_BYTES
        assert "Messages are cut" not in source

    def test_where_all_fail_with_long_messages_it_is_too_and_says_that_it_cut_them(self) -> None:
        long = "y " * 1900
        failing = (row(f"A{n}Model", "failed", message=f"{n} {long}") for n in range(900))
        source = render(report_of(*failing))
        assert len(source.encode()) < MOST_BYTES
        assert "Messages are cut to 1000 characters" in source

    def test_a_message_of_a_megabyte_is_cut_and_says_so(self) -> None:
        (case,) = Page(render(report_of(row(outcome="failed", message="y" * 1_000_000)))).cases
        assert str(case["message"]).endswith("… (1000000 characters in all)")

    def test_it_tells_what_changed_before_all_else(self) -> None:
        before = (passing(), row("GoneModel"))
        text = Page(render(report_of(crash("BertModel", variant="static"), before=before))).text
        first, rest = text.split("Every case")
        assert re.search(r"Regressions against \S+: 1 newly failing, 1 vanished", first)
        assert re.search(r"crashed at export · SIGSEGV .* was passed", first)
        assert "GoneModel [neuron/xla static]" in first
        assert "GoneModel" not in rest

    def test_it_tells_what_is_wrong_with_the_results(self, tmp_path: Path) -> None:
        write(tmp_path / "a", [row(outcome="failed", message="off")])
        path = write(tmp_path / "b", [passing(), crash()]) / "results.jsonl"
        os.truncate(path, path.stat().st_size - 50)
        (tmp_path / "c").mkdir()
        directories = [tmp_path / name for name in "abc"]
        text = Page(render(Report(Sweep.load(directories)))).text
        assert "BertModel [neuron/xla static] ended differently" in text
        assert f"a line that holds no result: {tmp_path}/b/results.jsonl:2" in text
        assert f"{tmp_path}/c holds no result" in text

    def test_details_have_every_column_that_has_a_value(self) -> None:
        result = crash(
            stack=["modeling_yolos.py:146 in forward"],
            deaths=["crashed · SIGKILL"],
            baked_reads=["aten::item of x at a.py:1"],
            peak_rss_mb=812.5,
            lowerings=["bicubic"],
        )
        (case,) = Page(render(report_of(result))).cases
        facts = dict(case["facts"])  # type: ignore[call-overload]
        assert facts["stack"] == "modeling_yolos.py:146 in forward"
        assert facts["peak rss mb"] == "812.5"
        assert facts["exit code"] == "139"
        assert facts["lowerings"] == "bicubic"
        assert case["tries"] == ["crashed · SIGKILL"]
        assert "retried" not in facts

    @pytest.mark.parametrize(
        ("size", "bar"),
        [
            (0.0, "0: 1 pass"),
            (math.nan, "∞: 1 pass"),
            (math.inf, "∞: 1 pass"),
            (2e-6, "1.0e-06 to 3.2e-06: 1 pass"),
            (4e-6, "3.2e-06 to 1.0e-05: 1 pass"),
            (1e-300, "1.0e-10 to 3.2e-10: 1 pass"),
            (1e300, "1.0e+03 to 3.2e+03: 1 pass"),
        ],
    )
    def test_the_plot_has_every_difference_in_its_half_decade(self, size: float, bar: str) -> None:
        assert bar in Page(render(report_of(passing(size)))).text


def cells(source: str) -> list[str]:
    """The text of every cell of every table, as GitHub's Markdown has them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    found = []
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type in ("td_open", "th_open"):
            assert not {child.type for child in inline.children or []} - {"text", "text_special"}
            found.append("".join(child.content for child in inline.children or []))
    return found


class TestMarkdown:
    @quick
    @given(texts)
    def test_any_text_is_one_cell_and_shown_as_it_is(self, text: str) -> None:
        row = f"| {markdown.cell(text)} | end |"
        found = cells(f"| a | b |\n| --- | --- |\n{row}\n")
        shown = " ".join(readable(text).split()).replace("@", "@\u2060")
        assert found == ["a", "b", shown, "end"]

    def test_a_page_has_a_table_of_totals_and_one_of_each_kind_of_change(self) -> None:
        report = report_of(crash("BertModel", variant="static"), before=(passing(),))
        page = markdown.page(report)
        assert cells(page)[:8] == [
            *("exported with", "crashed", "all"),
            *("neuron/xla static", "1", "1"),
            *("", ""),
        ]
        assert "#### newly failing (1)\n" in page
        assert page.startswith("### Regressions against ")

    def test_a_night_that_fails_altogether_is_short(self) -> None:
        # Figures tell no causes apart, words do.
        causes = ("".join("abcdefghij"[int(digit)] for digit in str(n)) for n in range(2300))
        failing = (row(f"{cause}Model", "failed", message=cause) for cause in causes)
        page = markdown.page(report_of(*failing))
        assert "… and 2,270 more in the HTML report." in page
        assert len(page.encode()) < 50_000


class TestRuntimeLimits:
    """What a runtime could not run has a heading of its own, in each kind of report."""

    KERNEL = f"{RUNTIME_LIMIT}it has no kernel of aten::polar.out (0x14)"

    @pytest.fixture
    def report(self) -> Report:
        facts = {"backend": "executorch", "runtime": "xnnpack"}
        limited = {"outcome": "skipped", "reason": self.KERNEL, **facts}
        whole = row("AModel", "skipped", reason="all components were skipped", **facts)
        parts = [dataclasses.replace(row("AModel", **limited), component=c) for c in ("a", "b")]
        entry = row("CModel", "skipped", reason="an entry", scope="executorch", **facts)
        return report_of(whole, *parts, row("BModel", **limited), entry, row("DModel", **facts))

    def test_the_cases_of_one_limit_are_one_group_each_case_once(self, report: Report) -> None:
        (group,) = report.runtime_limits
        assert group.said == self.KERNEL
        assert [case.result.model_class for case in group.cases] == ["AModel", "BModel"]

    def test_the_page_markdown_and_json_tell_it(self, report: Report) -> None:
        assert self.KERNEL in Page(render(report)).text
        assert "#### limits of a runtime, no pass (2)\n" in markdown.page(report)
        (told,) = report.to_dict()["runtime_limits"]
        assert told["said"] == self.KERNEL
        assert len(told["cases"]) == 2


def suites(report: Report) -> JUnitXml:
    return JUnitXml.fromstring(junit.document(report).encode("utf-8"))


def properties(result: CaseResult) -> dict[str, str]:
    root = ElementTree.fromstring(junit.document(report_of(result)))
    return {one.get("name", ""): one.get("value", "") for one in root.iter("property")}


class TestJUnit:
    # B32: declared totals are the rows, each with one element and a key of its own.
    def test_totals_are_the_rows(self) -> None:
        results = [
            passing(),
            row("AModel", "failed", message="off"),
            row("BModel", "skipped", scope="neuron", reason="no lowering"),
            row("CModel", "timeout"),
            row("DModel", "failed"),
            row("DModel", "failed", component="decoder"),
            row("DModel", component="encoder"),
            row("EModel", "exported"),
            row("FModel", "xpassed", scope="neuron"),
            crash(runtime="neuronx"),
        ]
        found = suites(report_of(*results))
        assert (found.tests, found.failures, found.errors, found.skipped) == (10, 4, 2, 2)
        assert [(suite.name, suite.tests) for suite in found] == [
            ("neuron/neuronx", 1),
            ("neuron/xla", 9),
        ]
        for suite in found:
            rows = list(suite)
            assert suite.tests == len(rows)
            assert len({(case.classname, case.name) for case in rows}) == len(rows)
            assert all(len(case.result) <= 1 for case in rows)
            declared = (suite.failures, suite.errors, suite.skipped)
            suite.update_statistics()
            assert declared == (suite.failures, suite.errors, suite.skipped)

    def test_a_crash_has_its_signal_op_and_headline(self) -> None:
        ((case,),) = suites(report_of(crash()))
        found = properties(crash())
        assert found["signal"] == "SIGSEGV"
        assert found["op"] == "aten::upsample_bicubic2d"
        assert found["operand"] == "embeddings.position_embeddings"
        assert case.classname == "tests.models.test_text_encoders.YolosModelExportTest"
        assert case.result[0].message.startswith("crashed at export · SIGSEGV · aten::upsample")

    def test_metrics_are_properties_of_each_output(self) -> None:
        metrics = {"logits": LeafMetrics(math.nan, math.inf, None, 0.5, 0.0, 0.25)}
        assert properties(row(metrics=metrics)) == {
            "outcome": "passed",
            "metrics.logits.max_abs": "nan",
            "metrics.logits.max_rel": "inf",
            "metrics.logits.pearson": "0.5",
            "metrics.logits.mismatched": "0.0",
            "metrics.logits.tolerance_used": "0.25",
        }

    def test_a_time_that_is_no_number_leaves_the_others(self) -> None:
        (suite,) = suites(report_of(row(seconds={"run": math.nan, "export": 1.5})))
        assert suite.time == 1.5

    # B34: a strict parser reads it, and the text is recognisable.
    @quick
    @given(texts, texts)
    def test_any_text_is_text(self, message: str, case_id: str) -> None:
        report = report_of(row(outcome="failed", message=message, case_id=case_id))
        root = ElementTree.fromstring(junit.document(report).encode("utf-8"))
        (failure,) = root.iter("failure")
        assert (failure.text or "") == readable(message)

    def test_it_is_the_same_whatever_the_order_of_the_rows(self) -> None:
        results = list(night(60))
        reversed_order = report_of(*reversed(results))
        assert junit.document(report_of(*results)) == junit.document(reversed_order)


# B34: what is written does not depend on the locale.
def test_all_is_written_where_the_locale_knows_ascii_only(tmp_path: Path) -> None:
    write(tmp_path, [row(outcome="failed", message=text) for text in HOSTILE[-3:]])
    files = ["--markdown", str(tmp_path / "m.md"), "--junit", str(tmp_path / "j.xml")]
    ended = subprocess.run(
        [sys.executable, "-m", "testing.cli", "report", str(tmp_path), *files],
        cwd=ROOT,
        env={**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "✗" in (tmp_path / "report.html").read_text("utf-8")
