"""Which inputs a class takes and what they may be, from the signature of its forward.

A class is given what it requires, its main input, and what its users pass besides: masks,
segments, decoder ids, images and sound. Optional inputs that switch off the path users are on are
left out: `position_ids` of encoders (the default counts real tokens itself), embeddings in place
of ids, head masks, labels. A rule makes the domain of one input from the model's forward, or None
where the class is not given it; those that stand in the tables of exceptions come first.
"""

from __future__ import annotations

from typing import Any

from testing.inputs.domains import Domain
from testing.tiny.errors import NoTinyModelError
from testing.tiny.forward import Forward
from testing.tiny.rules import boxes, data, text

__all__ = ["input_domains"]


def input_domains(model: Any) -> dict[str, Domain]:
    """The domain of each input that a tiny model is given, by name.

    Args:
        model: The model, in eval mode; one that puts images into places of a text is asked how
            many places an image takes.

    Raises:
        NoTinyModelError: The forward requires an input for which there is no rule.
    """
    forward = Forward(model)
    rules = {**data.RULES, **text.RULES, **boxes.RULES, **data.own_rules(forward)}
    domains = data.domains_of(forward, rules)
    missing = [name for name in forward.required if name not in domains]
    if missing:
        raise NoTinyModelError(f"{forward.name} requires {', '.join(missing)}: no rule makes it")
    return domains
