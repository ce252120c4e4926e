"""A test class whose model classes come from its tester, as transformers' Llama has it."""

from __future__ import annotations

import unittest

from transformers import LlamaModel

from tests.testing.hosts.test_modeling_common import CausalLMModelTest, CausalLMModelTester


class LlamaModelTester(CausalLMModelTester):
    base_model_class = LlamaModel


class LlamaModelTest(CausalLMModelTest, unittest.TestCase):
    model_tester_class = LlamaModelTester
