"""What a case is called in a report: its model class, test class where needed, and column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from testing.results import CaseResult

__all__ = ["column_of", "engine_of", "names_of", "variant_of"]


def names_of(results: Iterable[CaseResult]) -> Mapping[str, str]:
    """A name for each case id.

    It is the model class alone, unless several test classes of the run have that model class:
    then the test class follows in brackets, with its file where its name alone does not tell.
    """
    hosts: dict[str, set[str]] = {}
    found = list(results)
    for result in found:
        hosts.setdefault(result.model_class, set()).add(_host(result))
    return {result.case_id: _name(result, hosts[result.model_class]) for result in found}


def column_of(result: CaseResult) -> str:
    """Engine and variant, ``neuron/xla static``."""
    return f"{engine_of(result)} {variant_of(result)}"


def engine_of(result: CaseResult) -> str:
    """Backend and runtime or delegate, ``neuron/xla``."""
    return f"{result.backend}/{result.runtime}" if result.runtime else result.backend


def variant_of(result: CaseResult) -> str:
    """What of the model is exported and how, ``generate static static-cache``."""
    words = [
        "generate" if result.generate else "",
        result.variant,
        "static-cache" if result.static_cache else "",
    ]
    return " ".join(word for word in words if word)


def _name(result: CaseResult, hosts: set[str]) -> str:
    if len(hosts) == 1:
        return result.model_class
    host = _host(result)
    is_alone = sum(_short(other) == _short(host) for other in hosts) == 1
    return f"{result.model_class} ({_short(host) if is_alone else host})"


def _host(result: CaseResult) -> str:
    """File and test class of a case: pytest's node id less the test; empty where it is none."""
    return result.case_id.rpartition("::")[0]


def _short(host: str) -> str:
    return host.rpartition("::")[2]
