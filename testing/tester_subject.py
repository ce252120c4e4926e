"""Model and inputs from a tester in the shape of transformers' own; imported in the child only."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from typing import Any

from testing.inputs import SampledInputs
from testing.seeds import SEED, set_seed
from testing.subject import Subject

__all__ = ["generation_of", "subject_of_tester", "subject_to_generate"]

Prepare = Callable[[], tuple[Any, Mapping[str, Any]]]
"""Gives a configuration, and keyword inputs of `generate`."""


def subject_of_tester(test: Any, model_class: type) -> Subject:
    """The subject of `model_class` from ``test.model_tester``, as transformers' tests make it.

    Args:
        test: A test instance after ``setUp``. Its tester has
            ``prepare_config_and_inputs_for_common()`` and may have
            ``prepare_config_and_inputs_for_model_class(model_class)``.
        model_class: The class to build.
    """
    seed = getattr(test, "export_seed", SEED)
    set_seed(seed)
    _seed_helpers(seed)
    for_class = getattr(test.model_tester, "prepare_config_and_inputs_for_model_class", None)
    if for_class is not None:
        config, inputs = for_class(model_class)
    else:
        config, inputs = test.model_tester.prepare_config_and_inputs_for_common()
    if hasattr(test, "_prepare_for_class"):
        inputs = test._prepare_for_class(inputs, model_class)
    set_seed(seed)
    model = model_class(copy.deepcopy(config)).eval()
    return Subject(model, SampledInputs.infer(dict(inputs), config, seed))


def generation_of(test: Any) -> Prepare | None:
    """``prepare_config_and_inputs_for_generate`` of a test instance, or of its tester."""
    name = "prepare_config_and_inputs_for_generate"
    tester = getattr(test, "model_tester", None)
    found: Prepare | None = getattr(test, name, None) or getattr(tester, name, None)
    return found


def subject_to_generate(test: Any, prepare: Prepare, model_class: type) -> Subject:
    """The subject of `model_class` from what a test prepares to generate with.

    Args:
        test: A test instance after ``setUp``.
        prepare: What `generation_of` it gives.
        model_class: The class to build.
    """
    seed = getattr(test, "export_seed", SEED)
    set_seed(seed)
    _seed_helpers(seed)
    config, inputs = prepare()
    set_seed(seed)
    model = model_class(copy.deepcopy(config)).eval()
    return Subject(model, SampledInputs.infer(dict(inputs), config, seed))


def _seed_helpers(seed: int) -> None:
    """Seed the generator that ``ids_tensor`` and its like draw from in transformers' tests."""
    for name, module in tuple(sys.modules.items()):
        if name.rpartition(".")[2] == "test_modeling_common":
            module.global_rng.seed(seed)
