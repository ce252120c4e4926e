"""Sizes of a shrunk configuration that must fit each other, and those that its class left open.

A rule by name shrinks each size alone. These bring together what belongs together: heads and the
heads of keys and values that they share, a head's width and the whole that the heads make up, the
two parts of a latent attention's heads, and the sections of a rotary embedding for text with
images.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeGuard

__all__ = ["EXPERTS_PER_TOKEN", "fitted"]

EXPERTS_PER_TOKEN: Final = 2
_EXPERTS: Final = 4
# Sine and cosine of rows and of columns.
_AXES: Final = 4
# Several query heads share one of the keys, and there are several of these.
_GROUPED: Final = (4, 2)
# Two frequencies.
_ROTATED: Final = 4
_ROPES: Final = ("rope_parameters", "rope_scaling")

_Sizes = Mapping[str, Any]

_SHARED_HEADS: Final = {
    "attention_heads": "key_value_heads",
    "n_heads": "kv_n_heads",
    "num_value_heads": "num_key_heads",
}
"""Ends of the names of the more heads and of the fewer that they share."""

_HEADS_AND_WIDTHS: Final = (
    ("num_attention_heads", "head_dim"),
    ("num_attention_heads", "attention_head_dim"),
    ("num_heads", "head_dim"),
    ("n_head", "d_head"),
    ("mamba_num_heads", "mamba_head_dim"),
    ("mamba_n_heads", "mamba_d_head"),
    ("n_mamba_heads", "mamba_headdim"),
)
_EXPANSIONS: Final = ("expand", "mamba_expand")


def fitted(values: _Sizes, small: _Sizes) -> dict[str, Any]:
    """Entries of a shrunk configuration that others decide.

    Args:
        values: The configuration before it was shrunk.
        small: Its entries, each shrunk by itself.
    """
    changed = dict(small)
    for rule in _FITTINGS:
        changed.update(rule(values, changed))
    return changed


def _shared_heads(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """Query heads that shared a key's head still do, and those that did not still do not."""
    for many, few in _head_pairs(values):
        if values[few] is None:
            yield few, small[many]
        elif _is_size(values[few]) and values[few] < values[many]:
            most, least = _GROUPED
            yield many, most
            yield few, min(values[few], least)
        elif values[few] == values[many]:
            yield few, small[many]


def _head_pairs(values: _Sizes) -> Iterator[tuple[str, str]]:
    for end, other in _SHARED_HEADS.items():
        for name in values:
            few = name.removesuffix(end) + other
            if name.endswith(end) and few in values and _is_size(values[name]):
                yield name, few


def _head_widths(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """Heads make up a whole of the model where they did; where it is open, the hidden size."""
    for heads, width in _HEADS_AND_WIDTHS:
        if not _is_size(values.get(heads)):
            continue
        if _is_size(values.get(width)):
            yield from _same_whole(values, small, heads, width)
        elif width == "head_dim" and width in values and _is_size(small.get("hidden_size")):
            yield width, small["hidden_size"] // small[heads]


def _same_whole(
    values: _Sizes, small: _Sizes, heads: str, width: str
) -> Iterator[tuple[str, int]]:
    product = values[heads] * values[width]
    for name, factor in _wholes(values):
        if product == values[name] * factor:
            yield width, small[name] * factor // small[heads]
            return


def _wholes(values: _Sizes) -> Iterator[tuple[str, int]]:
    """What heads make up: sizes by name, each with a factor."""
    expansions = [values[name] for name in _EXPANSIONS if _is_size(values.get(name))]
    for name in ("mamba_d_ssm", "hidden_size", "d_model", "attention_hidden_size"):
        if _is_size(values.get(name)):
            yield from ((name, factor) for factor in (1, *expansions))


def _rotary_parts(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """Where only a part of a head is rotated, the part has `_ROTATED` places at least."""
    shares = [float(share) for share in _rotated_shares(values) if share]
    heads, width = values.get("num_attention_heads"), values.get("head_dim")
    if shares and _is_size(heads) and _is_size(width) and width * heads != values["hidden_size"]:
        yield "head_dim", max(small["head_dim"], math.ceil(_ROTATED / min(shares)))


def _rotated_shares(values: _Sizes) -> Iterator[Any]:
    for name, value in values.items():
        if name == "partial_rotary_factor":
            yield value
        elif isinstance(value, Mapping) and (name in _ROPES or "rope_type" in value):
            yield from _rotated_shares(value)


def _latent_heads(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """A head of latent attention is a part without and one with a rotary embedding."""
    plain, rotary = small.get("qk_nope_head_dim"), small.get("qk_rope_head_dim")
    if not (_is_size(plain) and _is_size(rotary)):
        return
    if "qk_head_dim" in values:
        yield "qk_head_dim", plain + rotary
    if "head_dim" in values:
        yield "head_dim", rotary


def _experts(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """Counts that a class leaves open, although its layers need them."""
    if values.get("n_routed_experts", 0) is None:
        yield "n_routed_experts", _EXPERTS
        yield "n_shared_experts", 1
    if values.get("num_experts_per_tok", 0) is None:
        yield "num_experts_per_tok", EXPERTS_PER_TOKEN


def _rope_sections(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, Any]]:
    """Sections of a rotary embedding, as many places as half a head has."""
    for name in _ROPES:
        rope = values.get(name)
        if isinstance(rope, Mapping) and _has_heads(small):
            yield name, _small_rope(rope, small)


def _small_rope(rope: _Sizes, small: _Sizes) -> dict[str, Any]:
    """One rotary embedding, or one for each type of layer."""
    nested: dict[str, Any] = {
        kind: _small_rope(inner, small)
        for kind, inner in rope.items()
        if isinstance(inner, Mapping)
    }
    sections = rope.get("mrope_section")
    if sections:
        share = rope.get("partial_rotary_factor") or small.get("partial_rotary_factor") or 1
        nested["mrope_section"] = _sections(sections, int(_head_width(small) * share) // 2)
    return {**rope, **nested}


def _pinpoints(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, Any]]:
    """Sizes to which an image is scaled before it is cut, in crops of the small size."""
    sizes, vision = values.get("image_grid_pinpoints"), small.get("vision_config")
    if sizes and isinstance(vision, Mapping) and _is_size(vision.get("image_size")):
        crop = math.gcd(*(side for size in sizes for side in size))
        small_sizes = [[side // crop * vision["image_size"] for side in size] for size in sizes]
        yield "image_grid_pinpoints", small_sizes


def _rotary_axes(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, int]]:
    """Places of a vision tower's head come in pairs for rows and for columns, as they did."""
    if "spatial_merge_size" not in values and "merge_kernel_size" not in values:
        return
    width = next((n for n in ("embed_dim", "hidden_size") if _is_size(values.get(n))), "")
    heads = next((n for n in ("num_heads", "num_attention_heads") if _is_size(values.get(n))), "")
    if width and heads and not values[width] // values[heads] % _AXES:
        head = small[width] // small[heads]
        yield width, small[heads] * (head + -head % _AXES)


def _feature_widths(values: _Sizes, small: _Sizes) -> Iterator[tuple[str, Any]]:
    """What is made of images and sound has the width of the text whose places it takes."""
    text = small.get("text_config")
    width = text.get("hidden_size") if isinstance(text, Mapping) else None
    for name, part in small.items():
        if width and isinstance(part, Mapping) and _is_size(part.get("out_hidden_size")):
            yield name, {**part, "out_hidden_size": width}


def _has_heads(small: _Sizes) -> bool:
    return all(_is_size(small.get(name)) for name in ("hidden_size", "num_attention_heads"))


def _head_width(small: _Sizes) -> int:
    return int(small.get("head_dim") or small["hidden_size"] // small["num_attention_heads"])


def _sections(sections: list[int], places: int) -> list[int]:
    """Shares of `places` as the sections had; the first takes what rounding leaves."""
    small = [max(1, places * section // sum(sections)) for section in sections]
    small[0] += places - sum(small)
    return small


def _is_size(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_FITTINGS: Final[tuple[Callable[[_Sizes, _Sizes], Iterator[tuple[str, Any]]], ...]] = (
    _shared_heads,
    _head_widths,
    _rotary_parts,
    _latent_heads,
    _experts,
    _rope_sections,
    _rotary_axes,
    _feature_widths,
    _pinpoints,
)
