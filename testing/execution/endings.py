"""The result that the end of a child stands for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from exporters.base import Backend
from testing.faults import is_modeling, readable
from testing.isolation import ChildReport, Ending, Frame
from testing.results import CaseResult, Outcome
from testing.rolling_up import rolled_up
from testing.settings import CaseRequest
from testing.sizes import size_text
from testing.stage_names import split_stage
from testing.versions import versions_of

__all__ = ["last_words", "model_line", "result_of", "with_op"]

_GUARD_RERUN: Final = "guard-rerun"
_MOST_FRAMES: Final = 40

# How native code says why it ends the process: glog, C++, libc, LLVM.
_LAST_WORDS: Final = re.compile(
    r"Check failed: |terminate called |what\(\): |Assertion .* failed|LLVM ERROR: "
    r"|free\(\): |malloc\(\): |realloc\(\): |munmap_chunk\(\): |double free or corruption"
    r"|corrupted (size|double)|stack smashing detected"
)


def result_of(report: ChildReport, request: CaseRequest, backend: Backend) -> CaseResult:
    """The result of a case from how its child ended."""
    if report.ending is Ending.RESULT:
        result = _reported(report, request)
    else:
        result = _judged(report, request)
    result = replace(
        result,
        message=_joined([result.message, *report.notes]),
        peak_rss_mb=result.peak_rss_mb or report.peak_rss_mb,
        seconds=result.seconds or _seconds(report, result.component),
        versions=result.versions or versions_of(backend.distributions),
    )
    if result.component is not None:
        return _summed_up(result, report, request)
    return replace(result, components=result.components or _parts(report))


def _parts(report: ChildReport) -> list[CaseResult]:
    """The components that had a result when the process ended."""
    return [CaseResult.from_row(row) for row in report.parts]


def _summed_up(died: CaseResult, report: ChildReport, request: CaseRequest) -> CaseResult:
    """The result of a case of which one component ended the process, with those before it."""
    whole = CaseResult.of(
        request.case,
        request.case_id,
        died.outcome,
        seconds=_seconds(report, None),
        versions=died.versions,
    )
    before = [part for part in _parts(report) if part.component != died.component]
    return rolled_up(whole, [*before, died])


def with_op(crash: CaseResult, rerun: CaseResult) -> CaseResult:
    """`crash` with the op that the guard found when the case was run once more."""
    if rerun.op is None:
        told = f"{rerun.outcome.value}: {rerun.message}" if rerun.message else rerun.outcome.value
        return replace(
            crash, message=_joined([crash.message, f"the guarded rerun names no op ({told})"])
        )
    return replace(
        crash,
        op=rerun.op,
        operand=rerun.operand,
        op_source=_GUARD_RERUN,
        source=crash.source or rerun.source,
        components=[
            with_op(part, replace(rerun, components=[])) if part.outcome is crash.outcome else part
            for part in crash.components
        ],
    )


def _reported(report: ChildReport, request: CaseRequest) -> CaseResult:
    try:
        return CaseResult.from_json(json.dumps(report.result))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return _result(report, request, Outcome.FAILED, f"the child's result is none: {error}")


def _judged(report: ChildReport, request: CaseRequest) -> CaseResult:
    stage = _stage(report)
    if report.ending is Ending.TIMEOUT:
        limit = f"killed at its limit of {request.timeout:g} s in stage {stage!r}"
        return _result(report, request, Outcome.TIMEOUT, limit)
    if report.ending is Ending.HUNG_IMPORT:
        return _result(report, request, Outcome.TIMEOUT, None)
    if report.ending is Ending.ERROR and report.error is not None:
        error = f"{report.error.kind}: {report.error.message}"
        return _result(report, request, Outcome.FAILED, error)
    if report.ending is Ending.MEMORY:
        return _result(report, request, Outcome.CRASHED, _memory(report, request))
    return _result(report, request, Outcome.CRASHED, last_words(report) or _how(report))


def _result(
    report: ChildReport, request: CaseRequest, outcome: Outcome, message: str | None
) -> CaseResult:
    stack = report.error.frames if report.error else report.stack
    return CaseResult.of(
        request.case,
        request.case_id,
        outcome,
        component=_component(report),
        stage=_stage(report),
        signal=report.signal,
        exit_code=report.exit_code,
        source=_source(stack, request.path),
        stack=[_told(frame) for frame in stack[:_MOST_FRAMES]],
        message=message,
    )


def _stage(report: ChildReport) -> str:
    """The stage of the end; before the first report the test module is being imported."""
    return split_stage(report.stage or "import")[1]


def _component(report: ChildReport) -> str | None:
    """The component that was exported or run at the end."""
    return split_stage(report.stage or "")[0]


def _seconds(report: ChildReport, component: str | None) -> dict[str, float]:
    """The stages of a component, or of the case itself."""
    told = ((split_stage(stage), seconds) for stage, seconds in report.stages.items())
    return {stage: seconds for (part, stage), seconds in told if part == component}


def last_words(report: ChildReport) -> str | None:
    """What native code wrote before it ended the process; None where it wrote nothing."""
    lines = [line.strip() for line in report.stderr.splitlines() if _LAST_WORDS.search(line)]
    return "\n".join(lines) or None


def _how(report: ChildReport) -> str:
    stage = _stage(report)
    if report.ending is Ending.SIGNALED:
        how = f"the process died by {report.signal} in stage {stage!r} and left no message"
        return f"{how}, as by the kernel's OOM killer" if report.signal == "SIGKILL" else how
    if report.ending is Ending.NO_RESULT:
        return f"the process exited with status 0 in stage {stage!r}, before it had a result"
    if report.ending is Ending.EXITED:
        tail = "".join(f"\n{line}" for line in report.stderr.splitlines()[-5:])
        return f"the process exited with status {report.exit_code} in stage {stage!r}{tail}"
    return f"the process {report.ending.value} in stage {stage!r}"


def _memory(report: ChildReport, request: CaseRequest) -> str:
    limit, peak = request.settings.case_memory or 0, (report.peak_rss_mb or 0.0) * (1 << 20)
    return (
        f"killed at its memory limit of {size_text(limit)} (--case-memory) in stage "
        f"{_stage(report)!r}: it held {size_text(peak)}"
    )


def _told(frame: Frame) -> str:
    """A frame as ``transformers/models/bert/modeling_bert.py:12 in forward``."""
    parts = PurePath(frame.path).parts
    below = parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts
    return readable(f"{PurePath(*below)}:{frame.line} in {frame.function}")


def model_line(report: ChildReport) -> str | None:
    """``file.py:line`` of the model that ran when the process ended; None where it is unknown."""
    return _source(report.error.frames if report.error else report.stack, "")


def _source(stack: Iterable[Frame], test_path: str) -> str | None:
    """``file.py:line`` of the innermost frame of a model, else of the test file."""
    frames = list(stack)
    of_models = (frame for frame in frames if is_modeling(frame.path))
    of_test = (frame for frame in frames if _is_same_file(frame.path, test_path))
    found = next(of_models, None) or next(of_test, None)
    return f"{PurePath(found.path).name}:{found.line}" if found else None


def _is_same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _joined(parts: Iterable[str | None]) -> str | None:
    text = "\n".join(filter(None, parts))
    return readable(text) if text else None
