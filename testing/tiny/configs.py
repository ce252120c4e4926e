"""Shrink a configuration by rule, so that what must fit together still does.

Widths are divided by one power of two and head counts by powers of two, so that a width which
the heads divided is still divided by them, and equal widths stay equal across nested
configurations. Depths become `LAYERS`, vocabularies `VOCABULARY`, images `IMAGE_SIDE`. Which
layers remain is in `layers`, what must fit each other in `fitting`, backbones in `backbones`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from transformers import CONFIG_MAPPING, PretrainedConfig

from testing.tiny.backbones import with_own_backbone
from testing.tiny.fitting import EXPERTS_PER_TOKEN, fitted
from testing.tiny.layers import (
    DEPTH,
    LAYERS,
    cut_to_depth,
    is_stages,
    kept_layers,
    last_layers,
    layer_outputs,
    taken_stages,
)
from testing.tiny.values import is_integer

__all__ = ["IMAGE_SIDE", "VOCABULARY", "shrink", "tiny_config"]

VOCABULARY: Final = 512
POSITIONS: Final = 128
IMAGE_SIDE: Final = 64
WIDEST: Final = 96
NARROWEST: Final = 8
EXPERTS: Final = 4
FRAMES: Final = 4
QUERIES: Final = 12
WINDOW: Final = 8
_LONGEST_IMAGE_WINDOW: Final = 63
_ROW: Final = 8

# Names are whole words of a key, so that "dim" finds "emb_dim" and not "dimension".
_BACKBONE_WIDTH = re.compile(r"hidden_sizes?|d_model|n_embd|embed_dim|emb_dim|dim")
_WIDTH = re.compile(
    r"(.*_)?(hidden_sizes?|d_model|d_ff|d_kv|d_inner|n_embd|n_inner|dims?|units|size_per_head"
    r"|key_dim|intermediate_size(_mlp)?|embedding_size|proj_size|bottleneck_size|flow_size"
    r"|out_features|bottleneck_features|pos_feats|pooler_output_size|channels|initial_channel|projection_size|coordinate_size|shape_size"
    r"|adapter_input_size"
    r"|num_filters|upsample_groups|hidden_dimension"
    r"|rank|d_inner|dff|dim_ff|lru_width|state_size|d_state|d_ssm"
    r"|hidden_size_(global|per_layer_input))"
)
# Channels of the data, and dimensions that are counts of something.
_NO_WIDTH = re.compile(
    r"num_channels|(input|in|audio)_channels|input_dim|keypoint_decoder_dim|depth_separable_channels"
)
# Grouped matrix products want rows of whole 16 bytes.
_INNER_WIDTH = re.compile(r"(.*_)?(intermediate_size|ffn_hidden_size)")
_HEAD_WIDTH = re.compile(r"(.*_)?(head_dim|d_head|headdim|dim_head)")
_HEADS = re.compile(
    r"(.*_)?(attention_heads|num_heads|n_heads?|key_value_heads|mamba_heads|(key|value)_heads"
    r"|kv_heads)|n_groups|mamba_n_?groups|o_groups|num_attention_heads_per_layer"
)
_VOCABULARY = re.compile(
    r"(.*_)?(vocab_size|n_words|vocab_size_per_layer_input|group_vocab|codebook_size)"
)
_TOKEN = re.compile(r".*_(token_ids?|token_index)|(bos|eos|pad|unk|mask|sep|cls)_index")
_POSITIONS = re.compile(r"max_position_embeddings|n_positions|max_(source|target)_positions")
_IMAGE = re.compile(r"(.*_)?(image_size|img_size|crop_size)")
_FRAMES = re.compile(r"num_frames|frames_per_clip")
_QUERIES = re.compile(r"num_queries|num_object_queries|two_stage_num_proposals")
_EXPERTS = re.compile(
    r"num_(local_)?experts|n_routed_experts|moe_num_experts|zero_expert_num|moe_num_primary_experts"
)
_EXPERTS_PER_TOKEN = re.compile(
    r"num_experts_per_tok(en)?|moe_top_?k|moe_k|top_k_experts|n_group|num_expert_group"
)
_EXPERT_GROUPS_PER_TOKEN = re.compile(r"topk_group")
# Layers before the first of another kind, and the place of one within a period.
_FIRST_LAYERS = re.compile(
    r"first_k_dense_replace|num_dense_layers|moe_layer_start_index|.*_layer_offset"
)
_PERIOD = re.compile(
    r"(.*_)?(layer_period|layer_interval|sparse_step|every_n_layers|layer_group_size"
    r"|window_pattern)"
)
# Of texts; windows of images are shorter than any text.
_WINDOW = re.compile(
    r"(.*_)?(window|window_size|window_len|local_attention|attention_chunk_size)"
    r"|(mamba_)?chunk_size"
)
_CHOSEN_KEYS = re.compile(r"index_topk|index_block_size")
_CHOSEN_BLOCKS = re.compile(r"index_topk_blocks")
# Shares of time, height and width in a rotary embedding, as most models have them.
_SECTIONS: Final = (24, 20, 20)


def tiny_config(
    config_class: type[PretrainedConfig],
    defaults: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> PretrainedConfig:
    """A small configuration.

    Args:
        config_class: Class of the configuration.
        defaults: Arguments that it needs before it is shrunk.
        changes: Arguments that replace what the rules give; nested as the configuration is.

    Raises:
        Exception: Whatever the configuration class raises for what it is given.
    """
    arguments = shrink(config_class(**defaults))
    return config_class(**_merged(arguments, changes))


def shrink(config: PretrainedConfig) -> dict[str, Any]:
    """Arguments of the class of `config` that give a small configuration of the same kind."""
    values = config.to_dict()
    scale = _Scale(_width_factor(values))
    return scale.arguments(type(config), values)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, change in changes.items():
        inner = merged.get(key)
        both = isinstance(inner, Mapping) and isinstance(change, Mapping)
        merged[key] = _merged(inner, change) if both and inner is not None else change
    return merged


def _width_factor(values: Mapping[str, Any]) -> int:
    """The power of two that brings the widest hidden size to `WIDEST` or below."""
    widest = max(_integers(values, _BACKBONE_WIDTH), default=WIDEST)
    return 1 << max(0, math.ceil(math.log2(widest / WIDEST)))


def _integers(values: Mapping[str, Any], name: re.Pattern[str]) -> Iterator[int]:
    """Every integer in entries with a matching name, at any depth."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _integers(value, name)
        elif name.fullmatch(str(key)):
            listed = value if isinstance(value, (list, tuple)) else [value]
            yield from (item for item in listed if is_integer(item))


@dataclass
class _Scale:
    """Sizes of one configuration, its nested ones included.

    Attributes:
        factor: What every width is divided by.
        tokens: New token ids by old ones, which all vocabularies share.
    """

    factor: int
    tokens: dict[int, int] = field(default_factory=dict)

    def arguments(self, config_class: type | None, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `config_class` from the values of a configuration."""
        stages = values.get("stage_names")
        values = _without_computed(config_class, with_own_backbone(values))
        values = _with_sections(config_class, values)
        depth = max((d for d in _integers(values, DEPTH)), default=0)
        outputs = layer_outputs(values, stages, depth)
        kept = kept_layers(values, depth, max((len(o) for o in outputs.values()), default=0))
        small = {key: self._entry(config_class, key, item) for key, item in values.items()}
        small.update(cut_to_depth(values, small, depth, kept))
        small = fitted(values, small)
        small.update(_whole_patches(values, small))
        small = {key: item for key, item in small.items() if not is_stages(key, item)}
        return small | taken_stages(values) | last_layers(outputs, stages, len(kept))

    def _entry(self, config_class: type | None, key: str, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("model_type") is not None:
            value = with_own_backbone(value)
            # AriaConfig leaves a dictionary without its type as it is.
            arguments = self.arguments(_nested_class(config_class, key, value), value)
            return {"model_type": value["model_type"], **arguments}
        for name, rule in self._rules():
            if name.fullmatch(key):
                return _each_integer(rule, value)
        return value

    def _rules(self) -> Iterator[tuple[re.Pattern[str], Callable[[int], int]]]:
        """Names and what happens to their sizes; the first that matches holds."""
        yield _NO_WIDTH, lambda size: size
        yield _HEADS, _fewer_heads
        yield _HEAD_WIDTH, self._width
        yield _INNER_WIDTH, lambda size: _up_to_multiple(self._width(size))
        yield _WIDTH, self._width
        yield DEPTH, lambda size: min(size, LAYERS)
        yield _VOCABULARY, lambda size: min(size, VOCABULARY)
        yield _TOKEN, self._token
        yield _POSITIONS, lambda size: min(size, POSITIONS)
        yield _IMAGE, lambda size: min(size, IMAGE_SIDE)
        yield _FRAMES, lambda size: min(size, FRAMES)
        yield _QUERIES, lambda size: min(size, QUERIES)
        yield _EXPERTS, lambda size: min(size, EXPERTS)
        yield _EXPERTS_PER_TOKEN, lambda size: min(size, EXPERTS_PER_TOKEN)
        yield _EXPERT_GROUPS_PER_TOKEN, lambda size: min(size, EXPERTS_PER_TOKEN - 1)
        yield _FIRST_LAYERS, lambda size: min(size, LAYERS - 1)
        yield _PERIOD, lambda size: min(size, LAYERS)
        yield _WINDOW, lambda size: size if size <= _LONGEST_IMAGE_WINDOW else WINDOW
        yield _CHOSEN_KEYS, lambda size: min(size, WINDOW // 2)
        yield _CHOSEN_BLOCKS, lambda size: min(size, WINDOW // 4)

    def _width(self, size: int) -> int:
        return max(math.ceil(size / self.factor), min(size, NARROWEST))

    def _token(self, token: int) -> int:
        """Ids beyond the small vocabulary move to its end; equal ids stay equal."""
        if token < VOCABULARY:
            return token
        return self.tokens.setdefault(token, VOCABULARY - 1 - len(self.tokens))


def _without_computed(config_class: type | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the class takes as arguments; it computes the others from them."""
    names = _argument_names(config_class) if config_class else frozenset()
    if not names:
        return dict(values)
    # An argument may be held under the name that checkpoints have for it.
    arguments = {held: name for name, held in getattr(config_class, "attribute_map", {}).items()}
    named = {key if key in names else arguments.get(key): value for key, value in values.items()}
    return {key: value for key, value in named.items() if key in names}


def _nested_class(
    config_class: type | None, key: str, values: Mapping[str, Any]
) -> type[PretrainedConfig] | None:
    """The class of a nested configuration: the declared one, else that of its model type."""
    declared = getattr(config_class, "sub_configs", {})
    # With a backbone it is a property of the instance.
    nested = declared.get(key) if isinstance(declared, Mapping) else None
    # Many declare AutoConfig, for any model's configuration.
    if inspect.isclass(nested) and issubclass(nested, PretrainedConfig):
        return nested
    known = values["model_type"] in CONFIG_MAPPING
    return CONFIG_MAPPING[values["model_type"]] if known else None


def _argument_names(config_class: type) -> frozenset[str]:
    own = [base for base in config_class.__mro__ if issubclass(base, PretrainedConfig)]
    names: set[str] = set()
    for base in own[: own.index(PretrainedConfig)]:
        names.update(inspect.signature(base.__init__).parameters)
    # A data class holds an argument with a property of its name under another.
    names.update([name.lstrip("_") for name in names])
    # Backbones take it, some by a keyword that they do not declare.
    names.update({"out_indices"} if hasattr(config_class, "out_indices") else ())
    # Configurations put together of two others take these by keyword alone.
    declared = getattr(config_class, "sub_configs", {})
    names.update(declared if isinstance(declared, Mapping) else ())
    return frozenset(names - {"self", "args", "kwargs"})


def _with_sections(config_class: type | None, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sections of a rotary embedding by time, height and width, where the code has the default.

    That default fits the heads of a full model alone. A configuration of transformers 5 that may
    have sections says so.
    """
    rope = values.get("rope_parameters")
    known = getattr(config_class, "ignore_keys_at_rope_validation", None) or ()
    if "mrope_section" not in known or not isinstance(rope, Mapping) or "rope_type" not in rope:
        return values
    return {**values, "rope_parameters": {"mrope_section": list(_SECTIONS), **rope}}


def _whole_patches(values: Mapping[str, Any], small: Mapping[str, Any]) -> dict[str, int]:
    """An image that was a whole number of patches is one still."""
    patch = values.get("patch_size")
    if not is_integer(patch):
        return {}
    return {
        key: small[key] - small[key] % patch
        for key, size in values.items()
        if _IMAGE.fullmatch(key) and is_integer(size) and size % patch == 0 and small[key] > patch
    }


def _fewer_heads(heads: int) -> int:
    """Halved while it is even and above two; one that is odd stays."""
    while heads > 2 and heads % 2 == 0:
        heads //= 2
    return heads


def _each_integer(rule: Callable[[int], int], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_each_integer(rule, item) for item in value)
    return rule(value) if is_integer(value) else value


def _up_to_multiple(size: int) -> int:
    return -(-size // _ROW) * _ROW if size > _ROW else size
