"""Encoders of text."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class AlbertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "albert"


class BertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "bert"


class CamembertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "camembert"


class ConvBertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "convbert"


class DebertaExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "deberta"


class DebertaV2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "deberta-v2"


class DistilBertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "distilbert"


class ElectraExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "electra"


class EsmExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "esm"


class FlaubertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "flaubert"


class MobileBertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "mobilebert"


class ModernBertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "modernbert"


class MPNetExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "mpnet"


class RobertaExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "roberta"


class RoFormerExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "roformer"


class XLMExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "xlm"


class XLMRobertaExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "xlm-roberta"
