"""Any case that a backend can have, and any scope that such a case can be in."""

from __future__ import annotations

from hypothesis import strategies as st

from testing.cases import ExportCase
from testing.scopes import Scope

RUNTIMES = {
    "neuron": ["neuronx", "xla"],
    "dynamo": [],
    "onnx": [],
    "openvino": [],
    "executorch": ["xnnpack", "mlx"],
}


@st.composite
def cases(draw: st.DrawFn) -> ExportCase:
    backend = draw(st.sampled_from(sorted(RUNTIMES)))
    runtime = draw(st.sampled_from([None, *RUNTIMES[backend]]))
    generate = draw(st.booleans())
    is_delegate = backend == "executorch"
    return ExportCase(
        model_class="BertModel",
        model_type="bert",
        backend=backend,
        runtime=None if is_delegate else runtime,
        delegate=runtime if is_delegate else None,
        dynamic=draw(st.booleans()),
        generate=generate,
        static_cache=generate and draw(st.booleans()),
    )


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Any scope that some case can be in."""
    narrowest = Scope.of(draw(cases())).ordered
    facets = [facet for facet in narrowest if draw(st.booleans())]
    facets += ["exactness"] if draw(st.booleans()) else []
    return Scope.parse(".".join(facets) or "all")


@st.composite
def nested_scopes(draw: st.DrawFn) -> tuple[Scope, Scope, ExportCase]:
    """A scope, one within it or the same, and a case of both."""
    case = draw(cases())
    facets = [facet for facet in Scope.of(case).ordered if draw(st.booleans())]
    fewer = [facet for facet in facets if draw(st.booleans())]
    last = ["exactness"] if draw(st.booleans()) else []
    broad, narrow = (Scope.parse(".".join([*f, *last]) or "all") for f in (fewer, facets))
    return broad, narrow, case
