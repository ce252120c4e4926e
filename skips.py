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
# Under a scope that ends in `exactness` the case runs and only its figures cannot fail it.
EXPORT_SKIPS: dict[str, dict[str, str | Skip]] = {}

# Classes that ONNX's optimizer breaks: they are exported without it.
ONNX_DISABLE_OPTIMIZE: dict[str, dict[str, str | Skip]] = {}

# Tolerance(atol=…, rtol=…, mismatch=0.0, reason="…") in place of the backend's own. Where several
# scopes apply, the narrowest counts.
TOLERANCES: dict[str, dict[str, Tolerance]] = {}
