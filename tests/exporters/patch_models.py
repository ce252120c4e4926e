"""Models small enough to run every patched class, and what tells whether one has changed."""

from __future__ import annotations

import functools
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedModel

from testing.auto_classes import classes_of

_SPEECH = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "conv_dim": (8, 8),
    "conv_kernel": (4, 3),
    "conv_stride": (4, 2),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 6,
    "num_conv_pos_embedding_groups": 2,
    "vocab_size": 20,
    "classifier_proj_size": 8,
    "codevector_dim": 8,
    "proj_codevector_dim": 8,
    "num_codevectors_per_group": 4,
    "num_ctc_classes": 20,
    "tdnn_dim": (8, 8),
    "tdnn_kernel": (3, 1),
    "tdnn_dilation": (1, 1),
    "xvector_output_dim": 8,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "wav2vec2": _SPEECH,
    "hubert": _SPEECH,
    "wavlm": _SPEECH,
    "unispeech": _SPEECH,
    "sew": _SPEECH | {"squeeze_factor": 2},
    "yolos": {
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "image_size": [32, 48],
        "patch_size": 8,
        "num_detection_tokens": 5,
    },
    "convbert": {
        "vocab_size": 50,
        "hidden_size": 16,
        "embedding_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 24,
        "head_ratio": 2,
        "conv_kernel_size": 5,
        "max_position_embeddings": 32,
    },
    "univnet": {
        "model_in_channels": 8,
        "model_hidden_channels": 8,
        "num_mel_bins": 10,
        "resblock_kernel_sizes": [3, 3],
        "resblock_stride_sizes": [2, 2],
        "resblock_dilation_sizes": [[1], [1, 3]],
        "kernel_predictor_num_blocks": 1,
        "kernel_predictor_hidden_channels": 8,
        "kernel_predictor_conv_size": 3,
    },
    "speecht5": {
        "model_in_dim": 8,
        "upsample_initial_channel": 8,
        "upsample_rates": [2, 2],
        "upsample_kernel_sizes": [4, 4],
        "resblock_kernel_sizes": [3],
        "resblock_dilation_sizes": [[1, 3]],
    },
    "bert": {
        "vocab_size": 50,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    },
    "mixtral": {
        "vocab_size": 50,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "intermediate_size": 24,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
    },
    "prophetnet": {
        "vocab_size": 50,
        "hidden_size": 16,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "num_encoder_attention_heads": 2,
        "num_decoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "max_position_embeddings": 32,
        "ngram": 2,
    },
    "cvt": {"embed_dim": [8, 16, 16], "num_heads": [1, 2, 2], "depth": [1, 2, 3]},
}
SPEECH_TYPES = ("wav2vec2", "hubert", "wavlm", "sew", "unispeech")
VOCODERS = {"UnivNetModel": "univnet", "SpeechT5HifiGan": "speecht5"}
WEIGHT_NORMED = {name: kind for kind in SPEECH_TYPES for name in classes_of(kind)} | VOCODERS
YOLOS = dict.fromkeys(classes_of("yolos"), "yolos")
CONVBERT = dict.fromkeys(classes_of("convbert"), "convbert")
MIXTRAL = dict.fromkeys(classes_of("mixtral"), "mixtral")
PROPHETNET = dict.fromkeys(classes_of("prophetnet"), "prophetnet")
OTHERS = {"BertModel": "bert", "CvtModel": "cvt"}
MODEL_TYPES = WEIGHT_NORMED | YOLOS | CONVBERT | MIXTRAL | PROPHETNET | OTHERS


def build(model_class: str, seed: int = 0) -> PreTrainedModel:
    """A model in eval mode whose every weight is random, so that no fault can hide in a zero."""
    torch.manual_seed(seed)
    cls = getattr(transformers, model_class)
    config = cls.config_class(**CONFIGS[MODEL_TYPES[model_class]])
    config.pad_token_id = 0  # for a decoder's classifier of sequences
    model = cls(config)
    if model_class in VOCODERS:
        model.apply_weight_norm()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def inputs_of(model_class: str, size: tuple[int, int] = (40, 64)) -> dict[str, torch.Tensor]:
    """Inputs of the model's modality with padding; `size` is that of an image, in pixels."""
    torch.manual_seed(1)
    kind = MODEL_TYPES[model_class]
    if kind == "univnet":
        return {"input_features": torch.randn(2, 6, 10), "noise_sequence": torch.randn(2, 6, 8)}
    if kind == "speecht5":
        return {"spectrogram": torch.randn(2, 6, 8)}
    if kind in SPEECH_TYPES:
        mask = (torch.arange(400) < torch.tensor([[400], [300]])).long()
        return {"input_values": torch.randn(2, 400), "attention_mask": mask}
    if kind in ("yolos", "cvt"):
        return {"pixel_values": torch.randn(2, 3, *size)}
    shape = (2, 3, 12) if model_class.endswith("MultipleChoice") else (2, 12)
    mask = (torch.arange(12) < torch.tensor([[12], [7]])).long()
    mask = mask[:, None].expand(shape) if len(shape) == 3 else mask
    ids = torch.randint(1, 50, shape)
    inputs = {"input_ids": ids, "attention_mask": mask.contiguous()}
    if model_class in ("ProphetNetModel", "ProphetNetForConditionalGeneration"):
        inputs["decoder_input_ids"] = ids
    return inputs


def run(model: nn.Module, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensor leaves of the output by path, computed under one seed."""
    from exporters.tree import tensor_leaves

    torch.manual_seed(2)
    with torch.no_grad():
        return tensor_leaves(model(**inputs))


def named_tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """What a runtime makes placeholders of."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def run_with(
    model: nn.Module, tensors: dict[str, torch.Tensor], inputs: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """As `run`, with `tensors` in place of the model's own, as the xla runtime calls it."""
    return run(functools.partial(_functional, model, tensors), inputs)  # type: ignore[arg-type]


def _functional(model: nn.Module, tensors: dict[str, torch.Tensor], **inputs: Any) -> Any:
    return torch.func.functional_call(model, dict(tensors), kwargs=inputs)


class Fingerprint:
    """Everything of a model that must be the same before and after, by identity and by bits."""

    def __init__(self, model: nn.Module) -> None:
        self.facts: dict[str, Any] = {"state dict": list(model.state_dict())}
        for path, module in model.named_modules():
            self.facts[f"{path}: training"] = module.training
            self._record(f"{path}: class", type(module))
            self._record(f"{path}: attributes", vars(module))
        for cls in {cls for module in model.modules() for cls in type(module).__mro__}:
            self.facts |= {f"{cls}.{name}": _Same(value) for name, value in vars(cls).items()}
        for name, tensor in model.state_dict(keep_vars=True).items():
            bits = tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes()
            self.facts[f"{name}: value"] = (tensor.requires_grad, tensor._version, bits)

    def differs(self, model: nn.Module) -> list[str]:
        """Where `model` is no longer what it was."""
        after = Fingerprint(model).facts
        return [
            path
            for path in [*self.facts, *(after.keys() - self.facts.keys())]
            if path not in after or path not in self.facts or after[path] != self.facts[path]
        ]

    def _record(self, path: str, value: Any) -> None:
        """Identity and order of nested containers; a fact holds its object, lest ids repeat."""
        self.facts[path] = _Same(value)
        if isinstance(value, dict):
            self.facts[f"{path}: order"] = list(value)
            for key, item in value.items():
                self._record(f"{path}.{key}", item)
        elif isinstance(value, (list, tuple, set)):
            for index, item in enumerate(value):
                self._record(f"{path}[{index}]", item)


class _Same:
    """Equal to another when both hold the same object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]
