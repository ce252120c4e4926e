"""The shape that transformers' own model tests have: a tester makes configuration and inputs.

Named and laid out as transformers' ``tests/test_modeling_common.py`` is, in our own words.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import torch

from testing.mixin import ExportTesterMixin

global_rng = random.Random()


def ids_tensor(shape: list[int], vocab_size: int) -> torch.Tensor:
    """Random ids from 0 to `vocab_size` exclusive, as transformers' tests draw them."""
    count = torch.Size(shape).numel()
    drawn = [global_rng.randint(0, vocab_size - 1) for _ in range(count)]
    return torch.tensor(drawn, dtype=torch.long).view(shape)


def random_attention_mask(shape: list[int]) -> torch.Tensor:
    """A mask of zeros and ones whose first column is attended to in every row."""
    mask = ids_tensor(shape, 2)
    mask[:, 0] = 1
    return mask


class ModelTesterMixin:
    """What every model test of transformers inherits; 4.57 has False as the default here."""

    model_tester: Any = None
    all_model_classes: Any = ()
    test_torch_exportable = False

    def _prepare_for_class(
        self, inputs_dict: dict[str, Any], model_class: type, return_labels: bool = False
    ) -> dict[str, Any]:
        prepared = copy.deepcopy(inputs_dict)
        if model_class.__name__.endswith("ForMultipleChoice"):
            prepared = {
                name: value.unsqueeze(1).expand(-1, self.model_tester.num_choices, -1).contiguous()
                for name, value in prepared.items()
            }
        return prepared


class CausalLMModelTester:
    """A tester that holds the model classes; only the base class has to be set."""

    base_model_class: Any = None
    config_class: Any = None
    causal_lm_class: Any = None
    question_answering_class: Any = None
    sequence_classification_class: Any = None
    token_classification_class: Any = None

    def __init__(self, parent: Any, batch_size: int = 3, seq_length: int = 7) -> None:
        self.parent = parent
        self.batch_size = batch_size
        self.seq_length = seq_length
        self.vocab_size = 99

    @property
    def all_model_classes(self) -> list[type]:
        held = [self.base_model_class, self.causal_lm_class, self.token_classification_class]
        return [model_class for model_class in held if model_class is not None]

    def get_config(self) -> Any:
        return self.base_model_class.config_class(
            vocab_size=self.vocab_size,
            hidden_size=32,
            intermediate_size=37,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            pad_token_id=0,
        )

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        shape = [self.batch_size, self.seq_length]
        mask = torch.tril(torch.ones(shape, dtype=torch.long))
        return self.get_config(), {
            "input_ids": ids_tensor(shape, self.vocab_size),
            "attention_mask": mask,
        }


class CausalLMModelTest(ModelTesterMixin, ExportTesterMixin):
    """Classes come from `model_tester_class`; ``all_model_classes`` is set in ``setUp`` only."""

    model_tester_class: Any = None
    all_model_classes: Any = None

    def setUp(self) -> None:
        if self.model_tester_class is None:
            raise ValueError("model_tester_class is not set")
        self.model_tester = self.model_tester_class(self)
        if self.all_model_classes is None:
            self.all_model_classes = self.model_tester.all_model_classes
