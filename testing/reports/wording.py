"""What a person reads of a result: one line, or all that helps to mend it."""

from __future__ import annotations

import re
import shlex
from typing import Final

from testing.faults import MESSAGE_LIMIT, readable
from testing.results import CaseResult, Outcome
from testing.settings import RunSettings

__all__ = ["explanation", "headline", "rerun_command", "skip_text"]

_OPERAND_SHOWN: Final = 120
"""Characters of the operand in a headline."""

# Time and thread id, which glog writes before the place: they tell runs apart and not causes.
_GLOG_PREFIX = re.compile(r"^[IWEF]\d{4} [\d:.]+\s+\d+ (?=\S+:\d+\] )")


def headline(result: CaseResult) -> str:
    """One line: how it ended, where, by which op on what, and the first line of the message."""
    first, _ = _message(result)
    return readable(_ending(result, _cut(first, 200)))


def explanation(result: CaseResult, rerun: str, entry: str | None = None) -> str:
    """The headline with the whole message, what else is known, and how to run it alone.

    Args:
        result: A result that ended in failure.
        rerun: The command that runs this case alone.
        entry: ``file:line`` of the entry that skips the case, where it is known.
    """
    first, others = _message(result)
    facts = _facts(result, entry).items()
    lines = [f"  {name + ':':<10} {value}" for name, value in facts if value]
    text = "\n".join([_ending(result, first), *others, *lines])
    return f"{readable(text, 2 * MESSAGE_LIMIT)}\nrun it alone: {rerun}"


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
        "--lowerings": (settings.lowerings, defaults.lowerings),
        "--lowering-guard": ("on" if settings.lowering_guard else "off", "on"),
        "--isolate": (settings.isolate, defaults.isolate),
        "--case-memory": (str(settings.case_memory), str(defaults.case_memory)),
    }
    options = [
        f"{name} {shlex.quote(now)}" for name, (now, usual) in chosen.items() if now != usual
    ]
    options += ["--slow"] if settings.slow else []
    options += ["--run-skipped"] if settings.run_skipped else []
    options += [] if settings.strict_skips else ["--no-strict-skips"]
    return " ".join(["pytest", shlex.quote(case_id), *options])


def _ending(result: CaseResult, said: str) -> str:
    ended = result.outcome.value + (f" at {result.stage}" if result.stage else "")
    parts = [ended, result.signal, _op(result), result.source, said]
    return " · ".join(part for part in parts if part)


def _facts(result: CaseResult, entry: str | None) -> dict[str, str | None]:
    """What neither the headline nor the message tells."""
    operand = result.operand or ""
    reads = [read for read in result.baked_reads if read not in (result.message or "")]
    return {
        "tries": _tries(result),
        "exit code": None if result.exit_code is None else str(result.exit_code),
        "op from": result.op_source,
        "baked in": "; ".join(reads),
        "patches": ", ".join(result.patches),
        "entry": result.scope and f"scope {result.scope}: {result.reason}",
        "stale": _what_to_delete(result, entry),
        # It may be as long as a message, so it is last.
        "operand": operand if len(operand) > _OPERAND_SHOWN else None,
    }


def _tries(result: CaseResult) -> str | None:
    """What became of the tries before, where there were any."""
    before = list(dict.fromkeys(result.deaths))
    if before == [headline(result)]:
        return f"{len(result.deaths) + 1}, and all ended so"
    return f"before, {'; '.join(before)}" if before else None


def _what_to_delete(result: CaseResult, entry: str | None) -> str | None:
    if result.outcome is not Outcome.XPASSED:
        return None
    where = f" at {entry}" if entry else ""
    return (
        f"the case passes; delete the entry of {result.model_class}{where}, or narrow its scope "
        "if other cases still need it"
    )


def _op(result: CaseResult) -> str | None:
    if result.op is None or not result.operand:
        return result.op
    return f"{result.op} on {_cut(result.operand, _OPERAND_SHOWN)}"


def _message(result: CaseResult) -> tuple[str, list[str]]:
    """The first line of the message and the others."""
    first, *others = _untold(result).strip().splitlines() or [""]
    return _GLOG_PREFIX.sub("", first.strip()), others


def _untold(result: CaseResult) -> str:
    """The message less op, operand and source, where it names them as the result itself does."""
    said = result.message or ""
    if not (result.op and result.operand):
        return said
    before, names_it, after = said.partition(f": {result.operand[:_OPERAND_SHOWN]}")
    if not names_it:
        return said
    before = before.replace(result.op, "the op", 1).replace(f" at {result.source}", "", 1)
    rest = result.operand[_OPERAND_SHOWN:]
    # A message that was cut to its limit may end within the operand.
    return before + (after.removeprefix(rest) if after.startswith(rest) else "")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
