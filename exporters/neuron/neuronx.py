"""Runtime ``neuronx``: ``torch_neuronx.trace`` and the programs that it gives.

Written after the public documentation of the AWS Neuron SDK 2.31 ("PyTorch NeuronX Tracing API
for Inference"). No machine of this project has a Neuron device: what stands here was run against
a double with the documented signatures only. Importing this module imports no torch.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from exporters.base import (
    BackendIncompatibleError,
    ExportedModel,
    ExportError,
    ExportOptions,
    WeightsInlinedError,
)
from exporters.distributions import version_of

if TYPE_CHECKING:
    import torch

    from exporters.flat import Binding, Layout, Watch
    from exporters.neuron.folding import Folds

__all__ = ["INSTALL", "NeuronxModel", "compiler_args", "has_device", "is_installed", "trace"]

# Of use where there is no Neuron DLAMI, which has both.
INSTALL: Final = (
    "pip install 'torch-neuronx==2.9.*' 'neuronx-cc==2.*' "
    "--extra-index-url https://pip.repos.neuron.amazonaws.com"
)

DOCUMENTED: Final = "the documentation of SDK 2.31 (torch-neuronx 2.9.0.2.15)"

# optimum-neuron compiles these without the transformer optimizations of neuronx-cc.
NOT_TRANSFORMER: Final = frozenset(
    {
        "hubert",
        "levit",
        "mobilenet-v2",
        "mobilevit",
        "unispeech",
        "unispeech-sat",
        "wav2vec2",
        "wavlm",
    }
)


def is_installed() -> bool:
    """Whether AWS's torch-neuronx is installed; nothing of it is imported.

    PyPI's package of that name is an empty 1.0 and counts as absent.
    """
    return version_of("torch-neuronx") is not None and _has_module("torch_neuronx")


def has_device(dev: Path = Path("/dev")) -> bool:
    """Whether the Neuron driver shows a device, ``/dev/neuron0`` and so on."""
    return any(dev.glob("neuron[0-9]*"))


def compiler_args(model: torch.nn.Module) -> list[str]:
    """neuronx-cc's arguments for `model`: those that optimum-neuron passes for its type."""
    arguments = ["--auto-cast", "none", "--optlevel", "2", "--target", "inf2"]
    model_type = getattr(getattr(model, "config", None), "model_type", None)
    if not model_type or model_type.replace("_", "-") in NOT_TRANSFORMER:
        return arguments
    return [*arguments, "--model-type", "transformer"]


def trace(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    options: ExportOptions,
    *,
    inline_weights: bool = True,
    watch: Watch | None = None,
) -> NeuronxModel:
    """Compile `model` for Neuron with ``torch_neuronx.trace``.

    Args:
        model: The model, in eval mode on the CPU.
        inputs: Keyword inputs. Tensors become inputs of the program, bound by their names;
            everything else is fixed.
        options: ``dynamic`` makes axis 0 free with ``torch_neuronx.dynamic_batch``; ``workdir``
            gets a new directory for the compiler.
        inline_weights: torch_neuronx's own default. Otherwise the weights stay apart and
            `NeuronxModel.with_weights` can replace them.
        watch: Gives the context of the model's forward while torch_neuronx traces it.

    Returns:
        The program. Without a Neuron device it is compiled with ``cpu_backend=True`` and cannot
        be run.

    Raises:
        BackendIncompatibleError: The installed toolkit does not have the documented interface.
        UnsupportedOutputError: The model's output holds no tensor.
    """
    import torch

    from exporters.flat import FlatForward

    runnable = has_device()
    toolkit = _Toolkit(_import_toolkit())
    toolkit.check(_keywords(runnable, inline_weights), options.dynamic, inline_weights)
    with torch.no_grad(), _workdir(options.workdir) as workdir:
        forward = FlatForward(model, inputs, watch)
        program = toolkit.trace(
            forward,
            forward.binding.flatten(inputs),
            compiler_workdir=str(workdir),
            compiler_args=compiler_args(model),
            **_keywords(runnable, inline_weights),
        )
    if options.dynamic:
        program = toolkit.dynamic_batch(program)
    exported = NeuronxModel(toolkit, program, forward.binding, forward.layout, inline_weights)
    exported.runnable = runnable
    return exported


class NeuronxModel(ExportedModel):
    """A program of ``torch_neuronx.trace``.

    Attributes:
        folds: What was folded while tracing, which the program holds as constants; None for
            nothing.
    """

    folds: Folds | None = None

    def __init__(
        self,
        toolkit: _Toolkit,
        program: Callable[..., Any],
        binding: Binding,
        layout: Layout,
        inline_weights: bool,
    ) -> None:
        self._toolkit = toolkit
        self._program = program
        self._binding = binding
        self._layout = layout
        self._inline_weights = inline_weights

    def __call__(self, inputs: Mapping[str, Any]) -> Any:
        """Run on the Neuron device; see `ExportedModel`.

        Raises:
            ExportError: There is no device to run on.
            InputMismatchError: The inputs are not those of the trace.
            UnsupportedOutputError: The program lost or added an output.
        """
        if not self.runnable:
            raise ExportError("compiled without a Neuron device, on which alone it can run")
        outputs = self._toolkit.tensors(self._program(*self._binding.flatten(inputs)))
        return self._layout.restore([output.cpu() for output in outputs])

    def with_weights(self, model: torch.nn.Module) -> NeuronxModel:
        """This program with the weights of `model`, which it then has itself too.

        ``torch_neuronx.replace_weights`` works in place, and knows nothing of what was folded.

        Raises:
            WeightsInlinedError: The weights, or what was folded of them, are constants.
        """
        from exporters.neuron.origins import named_weights

        if self._inline_weights:
            raise WeightsInlinedError(
                "torch_neuronx.trace puts the weights into the NEFF (inline_weights_to_neff)"
            )
        if self.folds is not None:
            self.folds.require_same({n: w.detach() for n, w in named_weights(model).items()})
        # The traced module is a FlatForward, which holds the model as `model`.
        weights = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        self._toolkit.replace_weights(self._program, weights)
        return self


class _Toolkit:
    """The installed torch_neuronx, held against its documentation."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def check(self, keywords: Mapping[str, Any], dynamic: bool, inline_weights: bool) -> None:
        """Compare the functions that will be called with their documentation.

        Raises:
            BackendIncompatibleError: One is missing or does not take its arguments.
        """
        self._check_call("trace", 2, ("compiler_workdir", "compiler_args", *keywords))
        if dynamic:
            self._check_call("dynamic_batch", 1)
        if not inline_weights:
            self._check_call("replace_weights", 2)

    def trace(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """``torch_neuronx.trace``, whose result is documented to be one ScriptModule."""
        return self._program("trace", self._module.trace(*args, **kwargs))

    def dynamic_batch(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """``torch_neuronx.dynamic_batch``, documented to return the program it was given."""
        return self._program("dynamic_batch", self._module.dynamic_batch(program))

    def replace_weights(self, program: Any, weights: Mapping[str, Any]) -> None:
        """``torch_neuronx.replace_weights``, in place."""
        self._module.replace_weights(program, weights)

    def tensors(self, outputs: Any) -> Sequence[torch.Tensor]:
        """What a program returned, as a sequence of tensors."""
        import torch

        found = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
        if isinstance(found, (list, tuple)) and all(isinstance(t, torch.Tensor) for t in found):
            return found
        raise self.incompatible(f"a program returns {_describe(outputs)} instead of tensors")

    def incompatible(self, found: str) -> BackendIncompatibleError:
        """The error that names both sides."""
        names = ("torch-neuronx", "neuronx-cc", "torch", "export-harness")
        versions = ", ".join(f"{name} {version_of(name) or '(no version)'}" for name in names)
        return BackendIncompatibleError(
            f"torch_neuronx is not as this backend expects it: {found}. The backend was written "
            f"after {DOCUMENTED}; installed are {versions}."
        )

    def _check_call(self, name: str, positional: int, keywords: Sequence[str] = ()) -> None:
        function = getattr(self._module, name, None)
        if not callable(function):
            raise self.incompatible(f"it has no function {name}")
        try:
            signature = inspect.signature(function)
        except ValueError:  # a builtin tells nothing; the call itself will
            return
        try:
            signature.bind(*range(positional), **dict.fromkeys(keywords))
        except TypeError as error:
            wanted = [f"{positional} positional", *keywords]
            raise self.incompatible(
                f"{name}{signature} cannot be called with {', '.join(wanted)} ({error})"
            ) from error

    def _program(self, function: str, result: Any) -> Callable[..., Any]:
        if not callable(result):
            raise self.incompatible(f"{function} returns {_describe(result)}, not one program")
        program: Callable[..., Any] = result
        return program


def _keywords(runnable: bool, inline_weights: bool) -> dict[str, bool]:
    """Only what differs from the documented defaults, since older SDKs lack some of them."""
    keywords = {} if runnable else {"cpu_backend": True}
    return keywords if inline_weights else {**keywords, "inline_weights_to_neff": False}


@contextmanager
def _workdir(parent: Path | None) -> Iterator[Path]:
    """A directory that no other trace uses: below `parent`, where it stays, else a passing one."""
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
        yield Path(tempfile.mkdtemp(prefix="neuronx-", dir=parent))
        return
    with tempfile.TemporaryDirectory(prefix="neuronx-") as directory:
        yield Path(directory)


def _import_toolkit() -> Any:
    try:
        return import_module("torch_neuronx")
    except ImportError as error:
        raise BackendIncompatibleError(
            f"torch-neuronx {version_of('torch-neuronx')} is installed and cannot be imported: "
            f"{error}"
        ) from error


def _describe(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _has_module(name: str) -> bool:
    """Whether a package of that name has code; a mere directory of that name has none."""
    spec = find_spec(name)
    return spec is not None and spec.origin is not None
