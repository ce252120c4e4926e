"""A test class with a hand-written tester, as transformers' ``test_modeling_bert.py`` has it."""

from __future__ import annotations

import unittest
from typing import Any

import torch
from transformers import (
    BertConfig,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertModel,
)

from testing.mixin import ExportTesterMixin
from tests.testing.hosts.test_modeling_common import (
    ModelTesterMixin,
    ids_tensor,
    random_attention_mask,
)


class BertModelTester:
    """Draws a small configuration and a batch of everything that BERT's tests feed it."""

    def __init__(self, parent: unittest.TestCase) -> None:
        self.parent = parent
        self.batch_size = 5
        self.seq_length = 7
        self.vocab_size = 99
        self.num_labels = 3
        self.num_choices = 4

    def prepare_config_and_inputs(self) -> tuple[BertConfig, torch.Tensor, Any, Any, torch.Tensor]:
        shape = [self.batch_size, self.seq_length]
        config = BertConfig(
            vocab_size=self.vocab_size,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=37,
            max_position_embeddings=64,
            type_vocab_size=16,
        )
        input_ids = ids_tensor(shape, self.vocab_size)
        token_labels = ids_tensor(shape, self.num_labels)
        return config, input_ids, ids_tensor(shape, 16), random_attention_mask(shape), token_labels

    def prepare_config_and_inputs_for_common(self) -> tuple[BertConfig, dict[str, Any]]:
        config, input_ids, token_type_ids, mask, _ = self.prepare_config_and_inputs()
        return config, {
            "input_ids": input_ids,
            "token_type_ids": token_type_ids,
            "attention_mask": mask,
        }

    def prepare_config_and_inputs_for_model_class(
        self, model_class: type
    ) -> tuple[BertConfig, dict[str, Any]]:
        config, inputs = self.prepare_config_and_inputs_for_common()
        if model_class is BertForTokenClassification:
            *_, labels = self.prepare_config_and_inputs()
            inputs["labels"] = labels
        return config, inputs


class BertModelTest(ModelTesterMixin, ExportTesterMixin, unittest.TestCase):
    all_model_classes = (
        BertModel,
        BertForTokenClassification,
        BertForQuestionAnswering,
        BertForMultipleChoice,
    )

    def setUp(self) -> None:
        self.model_tester = BertModelTester(self)

    def test_model(self) -> None:
        """A test of transformers' own: it runs in the parent, with ``setUp``."""
        config, inputs = self.model_tester.prepare_config_and_inputs_for_common()
        hidden = BertModel(config).eval()(**inputs).last_hidden_state
        assert hidden.shape == (5, 7, 32)
