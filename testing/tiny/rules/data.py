"""What a model is given beside its text: images, sound, boxes and what describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from testing.inputs.domains import Domain
from testing.tiny.exceptions import omitted_of, rules_of
from testing.tiny.forward import Forward
from testing.tiny.rules import audio, other, vision, vision_language

__all__ = ["RULES", "Rule", "data_domains", "domains_of", "own_rules"]

Rule = Callable[[Forward], Domain | None]

RULES: Final[Mapping[str, Rule]] = {
    **vision.RULES,
    **audio.RULES,
    **other.RULES,
    **vision_language.RULES,
}
"""General rules by the name of the input."""

# These have the length of the text, which depends on the data that it stands beside.
_TEXT: Final = re.compile(
    r"(?!audio_).*input_ids|(decoder_|cross_)?attention_mask|((mm_)?token_type|position)_ids|bbox"
    r"|image_embeds_position_mask"
)


def own_rules(forward: Forward) -> Mapping[str, Rule]:
    """Rules for inputs of this class, from the tables of exceptions."""
    return rules_of(forward.model_type, forward.name)


def data_domains(forward: Forward) -> dict[str, Domain]:
    """Domains of the inputs that are not of the text, by name."""
    rules = {**RULES, **own_rules(forward)}
    return domains_of(forward, {n: rule for n, rule in rules.items() if not _TEXT.fullmatch(n)})


def domains_of(forward: Forward, rules: Mapping[str, Rule]) -> dict[str, Domain]:
    """The domain of each input that the forward takes and that is not omitted, in its order."""
    own = own_rules(forward)
    omitted = omitted_of(forward.model_type, forward.name)
    # What stands in the tables may also be one of a forward's ``**kwargs``.
    names = [n for n in dict.fromkeys([*forward.parameters, *own]) if n in rules]
    domains = {name: rules[name](forward) for name in names if name not in omitted}
    return {name: domain for name, domain in domains.items() if domain is not None}
