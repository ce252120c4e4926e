"""Exceptions of models of time series, tables, graphs and trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from testing.inputs.domains import Domain, Kind
from testing.tiny.exceptions.change import Change
from testing.tiny.features import floats

__all__ = ["CHANGES", "IMPOSSIBLE", "INPUTS", "LARGE", "OMITTED", "UNUSED"]

# Nodes of a graph, and edges on the shortest path between two.
_NODES: Final = 6
_PATH: Final = 5

_FORECAST: Final = Change(
    "lengths that the class leaves open, and one of each kind of feature that it takes",
    {
        "num_time_features": 2,
        "num_static_real_features": 1,
        "num_static_categorical_features": 1,
        "cardinality": [4],
        "embedding_dimension": [2],
    },
    defaults={"prediction_length": 8, "context_length": 16},
)
_TWO_PATCHES: Final = Change("two patches of a series", {"context_length": 64})
_WITHOUT_FUTURE: Final = "read only beside future_values, which are given in training"

CHANGES: Final[Mapping[str, tuple[Change, ...]]] = {
    "autoformer": (_FORECAST,),
    "graphormer": (
        Change(
            "tables of a few atoms, edges and distances instead of thousands",
            {
                "num_atoms": 64,
                "num_edges": 64,
                "num_in_degree": 16,
                "num_out_degree": 16,
                "num_spatial": 16,
                "embedding_dim": 96,
                "hidden_size": 96,
                "ffn_embedding_dim": 96,
                "num_attention_heads": 2,
            },
        ),
    ),
    "informer": (_FORECAST,),
    "time_series_transformer": (_FORECAST,),
    "timesfm": (_TWO_PATCHES,),
    "timesfm2_5": (_TWO_PATCHES,),
}

OMITTED: Final[Mapping[str, Mapping[str, str]]] = {
    name: {"future_time_features": _WITHOUT_FUTURE, "decoder_attention_mask": _WITHOUT_FUTURE}
    for name in ("autoformer", "informer", "time_series_transformer")
}

UNUSED: Final[Mapping[str, Mapping[str, str]]] = {
    "DecisionTransformerModel": {"rewards": "its forward takes them and embeds the returns alone"},
    "GraphormerModel": {
        "attn_edge_type": "read where edge_type is not multi_hop, the default",
    },
    "TrajectoryTransformerModel": {"attention_mask": "read by the loss alone"},
}

INPUTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "decision_transformer": {
        "attention_mask": lambda forward: Domain(Kind.MASK, (8,)),
    },
    "graphormer": {
        "input_nodes": lambda forward: Domain(Kind.INDEX, (_NODES, 1), low=1, high=64),
        "input_edges": lambda forward: Domain(
            Kind.INDEX, (_NODES, _NODES, _PATH, 1), low=1, high=64
        ),
        "attn_bias": lambda forward: floats((_NODES + 1, _NODES + 1)),
        "in_degree": lambda forward: Domain(Kind.INDEX, (_NODES,), low=1, high=16),
        "out_degree": lambda forward: Domain(Kind.INDEX, (_NODES,), low=1, high=16),
        "spatial_pos": lambda forward: Domain(Kind.INDEX, (_NODES, _NODES), low=1, high=16),
        "attn_edge_type": lambda forward: Domain(Kind.INDEX, (_NODES, _NODES, 1), low=1, high=64),
    },
    "TimesFmModel": {"freq": lambda forward: Domain(Kind.INDEX, (1,), high=3)},
    "TimesFmModelForPrediction": {"freq": lambda forward: Domain(Kind.INDEX, (), high=3)},
    "trajectory_transformer": {
        "attention_mask": lambda forward: Domain(Kind.MASK, (8,)),
    },
}

LARGE: Final[Mapping[str, str]] = {}

IMPOSSIBLE: Final[Mapping[str, str]] = {}
