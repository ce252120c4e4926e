"""What is known not to work, and why: data only, read and never run.

Each table is ``TABLE[scope][model_class]``. A scope is facets joined by dots, in this order:

    neuron | dynamo | onnx | openvino | executorch     the backend
    neuronx | xla | xnnpack | mlx                      its runtime or delegate
    forward | generate
    static-cache | growing-cache                       of generation
    static | dynamic
    exactness                                          the comparison's figures alone

and ``all`` is every case. An entry applies when every facet of its scope holds for the case and
the name is the case's class exactly. To run a model again, delete its one entry.
"""

from testing.registry import Skip, Tolerance

# A reason is the cause as it was measured: the op, the line or the figure. It is a string, or
# Skip("…", issue="https://…", when="torch-neuronx<2.9", until="2026-12-31", kind="bug"), where
# `when` must hold of what is installed and `kind` is bug, wontfix, needs-package or slow.
# `component` names the one part of a model that is meant. "Same as `X`." refers to X's own reason.
# Scopes and names stand by the alphabet; `export-harness skips lint --fix` puts them there.
# Under a scope that ends in `exactness` the case runs and only its figures cannot fail it.
EXPORT_SKIPS: dict[str, dict[str, str | Skip]] = {
    "neuron": {
        "BeitForSemanticSegmentation": (
            "aten::_adaptive_avg_pool2d reads the activations of the pyramid pooling "
            "(modeling_beit.py:1086) where a 2x2 map is pooled to 3x3; the pools to 1x1 and 2x2 "
            "before it trace."
        ),
    },
    "neuron.static": {
        "BartForSequenceClassification": (
            "hidden_states[eos_mask] (modeling_bart.py:1626) reads the places of the end tokens "
            "from input_ids with aten::nonzero while tracing, so that they are baked in: on "
            "fresh inputs the logits are off by 0.39 at a scale of 0.9."
        ),
        "T5ForSequenceClassification": (
            "hidden_states[eos_mask] (modeling_t5.py:2070) reads the places of the end tokens "
            "from input_ids with aten::nonzero while tracing, so that they are baked in: on "
            "fresh inputs the logits are off by 1.07 at a scale of 1.1."
        ),
        "VitsModel": (
            "The spline of the duration predictor asks whether its discriminant is negative "
            "anywhere (modeling_vits.py:286): aten::_local_scalar_dense reads a value that "
            "derives from weights."
        ),
    },
}

# Classes that ONNX's optimizer breaks: they are exported without it.
ONNX_DISABLE_OPTIMIZE: dict[str, dict[str, str | Skip]] = {}

# Tolerance(atol=…, rtol=…, mismatch=0.0, reason="…") in place of the backend's own. Where several
# scopes apply, the narrowest counts. It takes `issue`, `when`, `until` and `component` as well.
TOLERANCES: dict[str, dict[str, Tolerance]] = {}
