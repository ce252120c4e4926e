"""Test classes whose testers give attention masks of ones, as most of transformers' own do."""

from __future__ import annotations

import unittest
from typing import Any

import torch
from transformers import (
    BartConfig,
    BartModel,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
)

from testing.mixin import ExportTesterMixin
from tests.testing.hosts.test_modeling_common import ModelTesterMixin, ids_tensor

SHAPE = [3, 7]


class UnpaddedTester:
    """Draws ids without special tokens, and masks none of them."""

    def get_config(self) -> Any:
        raise NotImplementedError

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        ids, mask = ids_tensor(SHAPE, 90) + 3, torch.ones(SHAPE, dtype=torch.long)
        return self.get_config(), {"input_ids": ids, "attention_mask": mask}


class BartModelTester(UnpaddedTester):
    def get_config(self) -> BartConfig:
        return BartConfig(
            vocab_size=99,
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=4,
            decoder_ffn_dim=4,
            max_position_embeddings=20,
            eos_token_id=2,
        )

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        config, inputs = super().prepare_config_and_inputs_for_common()
        inputs["input_ids"][:, -1] = config.eos_token_id
        inputs["decoder_input_ids"] = ids_tensor(SHAPE, 90) + 3
        inputs["decoder_attention_mask"] = torch.ones(SHAPE, dtype=torch.bool)
        return config, inputs


class BertModelTester(UnpaddedTester):
    def get_config(self) -> BertConfig:
        return BertConfig(
            vocab_size=99,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=37,
        )


class GPT2ModelTester(UnpaddedTester):
    def get_config(self) -> GPT2Config:
        return GPT2Config(
            vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, pad_token_id=98
        )


class LlamaModelTester(UnpaddedTester):
    def get_config(self) -> LlamaConfig:
        return LlamaConfig(
            vocab_size=99,
            hidden_size=32,
            intermediate_size=37,
            num_hidden_layers=2,
            num_attention_heads=2,
            pad_token_id=0,
        )

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        config, inputs = super().prepare_config_and_inputs_for_common()
        inputs["position_ids"] = torch.arange(SHAPE[1]).repeat(SHAPE[0], 1)
        return config, inputs


class UnpaddedBartTest(ModelTesterMixin, ExportTesterMixin, unittest.TestCase):
    all_model_classes = (BartModel,)

    def setUp(self) -> None:
        self.model_tester = BartModelTester()


class UnpaddedBertTest(ModelTesterMixin, ExportTesterMixin, unittest.TestCase):
    all_model_classes = (BertModel,)

    def setUp(self) -> None:
        self.model_tester = BertModelTester()


class UnpaddedGPT2Test(ModelTesterMixin, ExportTesterMixin, unittest.TestCase):
    all_model_classes = (GPT2Model,)

    def setUp(self) -> None:
        self.model_tester = GPT2ModelTester()


class UnpaddedLlamaTest(ModelTesterMixin, ExportTesterMixin, unittest.TestCase):
    all_model_classes = (LlamaModel,)

    def setUp(self) -> None:
        self.model_tester = LlamaModelTester()
