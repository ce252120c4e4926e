"""Models of sound: waveforms, spectrograms, speech from text."""

from __future__ import annotations

import unittest

from testing.mixin import ExportTesterMixin


class ASTExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "audio-spectrogram-transformer"


class HubertExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "hubert"


class SEWExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "sew"


class SEWDExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "sew-d"


class UniSpeechExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "unispeech"


class UniSpeechSatExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "unispeech-sat"


class VitsExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "vits"


class Wav2Vec2ExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "wav2vec2"


class Wav2Vec2ConformerExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "wav2vec2-conformer"


class WavLMExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "wavlm"


class WhisperExportTest(ExportTesterMixin, unittest.TestCase):
    model_type = "whisper"
