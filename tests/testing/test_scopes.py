"""The algebra of scopes: parsing, order, matching and what covers what."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cases import ExportCase
from testing.scopes import (
    ALL,
    Scope,
    ScopeConflictError,
    ScopeError,
    ScopeOrderError,
    UnknownScopeError,
    scopes_of,
    vocabulary,
)
from tests.testing.scope_strategies import cases, scopes

ROOT = Path(__file__).parents[2]
GROUPS = ["backend", "runtime", "mode", "cache", "shape", "exactness"]

# What the design page says of each facet, written out a second time on purpose.
HOLDS = {
    "neuron": lambda case: case.backend == "neuron",
    "xla": lambda case: case.runtime == "xla",
    "mlx": lambda case: case.delegate == "mlx",
    "onnx": lambda case: case.backend == "onnx",
    "forward": lambda case: not case.generate,
    "generate": lambda case: case.generate,
    "static-cache": lambda case: case.generate and case.static_cache,
    "growing-cache": lambda case: case.generate and not case.static_cache,
    "static": lambda case: not case.dynamic,
    "dynamic": lambda case: case.dynamic,
    "exactness": lambda case: True,
}


@given(scopes())
def test_parsing_is_the_inverse_of_formatting(scope: Scope) -> None:
    assert Scope.parse(str(scope)) == scope


@given(st.sampled_from(sorted(HOLDS)), cases())
def test_a_facet_holds_as_the_design_page_says(facet: str, case: ExportCase) -> None:
    assert Scope.parse(facet).applies_to(case) == HOLDS[facet](case)


@given(scopes(), cases())
def test_a_scope_applies_when_each_of_its_facets_does(scope: Scope, case: ExportCase) -> None:
    each = [Scope.parse(facet).applies_to(case) for facet in scope.ordered]
    assert scope.applies_to(case) == all(each)


@given(scopes(), scopes(), cases())
def test_a_broader_scope_applies_to_every_case_of_a_narrower(
    first: Scope, second: Scope, case: ExportCase
) -> None:
    if first.covers(second) and second.applies_to(case):
        assert first.applies_to(case)


@given(scopes(), scopes())
def test_a_subset_of_facets_with_the_same_effect_covers(first: Scope, second: Scope) -> None:
    if first <= second and first.is_exactness == second.is_exactness:
        assert first.covers(second)


@given(cases(), st.booleans())
def test_the_scopes_of_a_case_go_from_broad_to_narrow(case: ExportCase, exactness: bool) -> None:
    found = scopes_of(case, exactness=exactness)
    assert all(not later < earlier for i, earlier in enumerate(found) for later in found[i:])


@given(scopes(), cases())
def test_the_scopes_of_a_case_are_those_that_apply(scope: Scope, case: ExportCase) -> None:
    listed = scope in scopes_of(case, exactness=scope.is_exactness)
    assert listed == scope.applies_to(case)


@given(cases())
def test_exactness_never_skips(case: ExportCase) -> None:
    assert not any(scope.is_exactness for scope in scopes_of(case))


@given(scopes(), scopes(), cases())
def test_scopes_with_a_case_in_common_meet(first: Scope, second: Scope, case: ExportCase) -> None:
    if first.applies_to(case) and second.applies_to(case):
        assert first.meets(second)


@given(scopes(), scopes())
def test_scopes_that_meet_can_be_said_in_one(first: Scope, second: Scope) -> None:
    if first.meets(second):
        assert second.meets(first)
        both = first.without_exactness.facets | second.without_exactness.facets
        order = sorted(both, key=lambda f: GROUPS.index(vocabulary()[f]))
        assert Scope.parse(".".join(order) or "all")


@given(cases())
def test_all_is_the_broadest_scope_of_every_case(case: ExportCase) -> None:
    assert scopes_of(case)[0] == ALL
    assert str(ALL) == "all"


@given(scopes())
def test_only_the_canonical_order_is_read(scope: Scope) -> None:
    for order in permutations(scope.ordered):
        text = ".".join(order) or "all"
        if text != str(scope):
            with pytest.raises(ScopeOrderError, match=str(scope).replace(".", r"\.")):
                Scope.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "all", "neuron", "neuron.dynamic", "neuron.xla.static", "generate.dynamic",
        "onnx.generate", "mlx.generate", "executorch.static-cache", "exactness",
        "neuron.exactness", "neuron.dynamic.exactness", "xla", "dynamo.exactness",
    ],
)  # fmt: skip
def test_the_scopes_of_the_design_page_are_read(text: str) -> None:
    assert str(Scope.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("nueron", "neuron"),
        ("neuron.dynamc", "dynamic"),
        ("Neuron", "neuron"),
        ("neuron.static_cache", "static-cache"),
        ("xnpack", "xnnpack"),
        ("neuron ", "neuron"),
    ],
)
def test_an_unknown_facet_names_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(UnknownScopeError, match=f"did you mean '{nearest}'"):
        Scope.parse(text)


# B40: what cannot be seen is shown escaped.
@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("neuron\u200b", r"neuron\u200b"),
        ("neur\u043en", r"neur\u043en"),
        ("neuron\xa0", r"neuron\xa0"),
        ("\ufeffneuron", r"\ufeffneuron"),
    ],
)
def test_invisible_characters_in_a_scope_are_shown(text: str, escaped: str) -> None:
    with pytest.raises(UnknownScopeError) as caught:
        Scope.parse(text)
    assert escaped in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["neuron.onnx", "static.dynamic", "neuron.neuron", "neuron.xnnpack", "forward.static-cache"],
)
def test_a_scope_of_no_case_is_refused(text: str) -> None:
    with pytest.raises(ScopeConflictError, match="applies to no case"):
        Scope.parse(text)


@pytest.mark.parametrize("text", ["", ".", "neuron.", ".neuron", "all.neuron", "neuron..static"])
def test_an_empty_facet_is_refused(text: str) -> None:
    with pytest.raises(ScopeError):
        Scope.parse(text)


@pytest.mark.parametrize(
    ("broad", "narrow", "covered"),
    [
        ("neuron", "xla", True),
        ("neuron", "neuron.xla.static", True),
        ("executorch.generate", "mlx.static-cache", True),
        ("xla", "neuron", False),
        ("onnx", "xla", False),
        ("neuron", "neuron.exactness", False),
        ("neuron.exactness", "neuron", False),
        ("exactness", "neuron.exactness", True),
    ],
)
def test_a_facet_implies_what_its_cases_always_have(
    broad: str, narrow: str, covered: bool
) -> None:
    assert Scope.parse(broad).covers(Scope.parse(narrow)) is covered


def test_an_open_runtime_matches_no_runtime_facet() -> None:
    case = ExportCase("BertModel", "bert", "neuron", runtime=None)
    assert not Scope.parse("xla").applies_to(case)
    assert Scope.parse("neuron").applies_to(case)


def test_scopes_import_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from testing.scopes import Scope; Scope.parse('neuron.xla');"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
