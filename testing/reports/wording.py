"""What a person reads of a result: one line, or all that helps to mend it."""

from __future__ import annotations

import re
import shlex

from testing.faults import readable
from testing.results import CaseResult, Outcome
from testing.settings import RunSettings

__all__ = ["explanation", "headline", "rerun_command", "skip_text"]

# Time and thread id, which glog writes before the place: they tell runs apart and not causes.
_GLOG_PREFIX = re.compile(r"^[IWEF]\d{4} [\d:.]+\s+\d+ (?=\S+:\d+\] )")


def headline(result: CaseResult) -> str:
    """One line: how it ended, where, by which op on what, and the first line of the message."""
    ended = result.outcome.value + (f" at {result.stage}" if result.stage else "")
    parts = [ended, result.signal, _op(result), result.source, _first_line(result.message)]
    return readable(" · ".join(part for part in parts if part))


def explanation(result: CaseResult, rerun: str, entry: str | None = None) -> str:
    """The headline, every fact that is known, the whole message, and how to run it alone.

    Args:
        result: A result that ended in failure.
        rerun: The command that runs this case alone.
        entry: ``file:line`` of the entry that skips the case, where it is known.
    """
    op_source = f" ({result.op_source})" if result.op_source else ""
    exit_code = None if result.exit_code is None else str(result.exit_code)
    facts = {
        "signal": result.signal,
        "exit code": exit_code,
        "op": result.op and f"{result.op}{op_source}",
        "operand": result.operand,
        "source": result.source,
        "baked in": "; ".join(result.baked_reads) or None,
        "patches": ", ".join(result.patches) or None,
        "entry": result.scope and f"scope {result.scope}: {result.reason}",
        "stale": _what_to_delete(result, entry),
    }
    lines = [f"  {name + ':':<10} {value}" for name, value in facts.items() if value]
    message = result.message or ""
    whole = [message.strip()] if message.strip() != _first_line(message) else []
    text = "\n".join([headline(result), *lines, *whole])
    return f"{readable(text)}\nrun it alone: {rerun}"


def skip_text(result: CaseResult) -> str:
    """Why a case was not run, or not compared: its scope and reason, or the fact."""
    said = result.reason or result.message or "no reason was given"
    if result.scope:
        return readable(f"scope {result.scope}: {said}")
    return readable(said if result.outcome is Outcome.SKIPPED else headline(result))


def rerun_command(case_id: str, settings: RunSettings) -> str:
    """The command line that runs one case alone as it was run here."""
    defaults = RunSettings()
    chosen = {
        "--neuron-runtime": (settings.neuron_runtime, defaults.neuron_runtime),
        "--trace-patches": (settings.trace_patches, defaults.trace_patches),
        "--lowering-guard": ("on" if settings.lowering_guard else "off", "on"),
        "--isolate": (settings.isolate, defaults.isolate),
    }
    options = [
        f"{name} {shlex.quote(now)}" for name, (now, usual) in chosen.items() if now != usual
    ]
    options += ["--slow"] if settings.slow else []
    options += ["--run-skipped"] if settings.run_skipped else []
    return " ".join(["pytest", shlex.quote(case_id), *options])


def _what_to_delete(result: CaseResult, entry: str | None) -> str | None:
    if result.outcome is not Outcome.XPASSED:
        return None
    where = f" at {entry}" if entry else ""
    return (
        f"the case passes; delete the entry of {result.model_class}{where}, or narrow its scope "
        "if other cases still need it"
    )


def _op(result: CaseResult) -> str | None:
    if result.op is None:
        return None
    return f"{result.op} on {_cut(result.operand, 120)}" if result.operand else result.op


def _first_line(message: str | None) -> str | None:
    line = next((line.strip() for line in (message or "").splitlines() if line.strip()), None)
    return line if line is None else _cut(_GLOG_PREFIX.sub("", line), 200)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
