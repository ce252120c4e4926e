"""What a case is called in a report: its model class, and the test class where that is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from testing.results import CaseResult

__all__ = ["names_of"]


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
