"""What ``skips.py`` says of a case and of single components of it, as a request carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exporters import get_backend
from testing.cases import ExportCase
from testing.registry import Entry, Registry
from testing.settings import Terms

__all__ = ["component_skip", "component_terms", "terms_for"]


def terms_for(registry: Registry, case: ExportCase, component: str | None = None) -> Terms:
    """Tolerance, exactness and optimizer of a case or of a component, its runtime resolved.

    Args:
        registry: The entries.
        case: The case.
        component: Its component; None is the case itself.
    """
    default = get_backend(case.backend).tolerance(case.runtime or case.delegate)
    exactness = registry.exactness_for(case, component)
    optimizer = registry.optimizer_off_for(case, component)
    return Terms(
        registry.tolerance_for(case, default, component),
        exactness.reason if exactness else None,
        optimizer.reason if optimizer else None,
    )


def component_terms(
    registry: Registry, case: ExportCase, run_skipped: bool = False
) -> Mapping[str, Terms]:
    """The terms of each component that an entry names.

    Args:
        registry: The entries.
        case: The case, its runtime resolved.
        run_skipped: Whether a component that an entry skips is run all the same.
    """
    found: dict[str, Terms] = {}
    for component in registry.components_of(case):
        terms = terms_for(registry, case, component)
        entry = None if run_skipped else component_skip(registry, case, component)
        skip = (str(entry.scope), entry.reason) if entry else None
        found[component] = replace(terms, skip=skip)
    return found


def component_skip(registry: Registry, case: ExportCase, component: str | None) -> Entry | None:
    """The broadest entry that skips this component and not the whole case."""
    matches = registry.skips_for(case, component)
    return next((e for e in matches if component and e.value.component == component), None)
