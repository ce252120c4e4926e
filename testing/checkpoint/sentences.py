"""Real sentences through a checkpoint's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

__all__ = ["LENGTH", "SentenceInputs"]

LENGTH: Final = 24
"""Tokens of a sentence by default; the traced ones are shorter and get padding."""
_TRACED: Final = (
    "A cat sat on the mat.",
    "The committee has postponed its decision on the new railway line until the spring.",
)
_FRESH: Final[Mapping[str, tuple[str, ...]]] = {
    "sentences": (
        "Prices of copper rose by four percent yesterday, while nickel stayed where it was.",
        "It rains.",
        "Does anybody know why the second experiment gave another result than the first?",
    ),
    "truncated": (
        "He wrote that the river had risen in the night, that the bridge was gone, that no boat "
        "could cross before the wind turned, and that we were to wait where we were.",
        "Whoever opens the box must first read the label, then put on the gloves, then cut the "
        "seal at the left side only, and never tilt it while the lamp beside the lid is red.",
    ),
}


class SentenceInputs:
    """Real sentences, padded to one length.

    Attributes:
        batch_size: Batch of the traced inputs.
        families: ``sentences`` has other padding than the trace, ``truncated`` has none.
        unchanged: Leaves that the tokenizer gives the same value for every single sentence.
        axes: The length of a sentence.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, length: int = LENGTH, decodes: bool = False
    ) -> None:
        """Tokenize with `tokenizer`.

        Args:
            tokenizer: The checkpoint's own.
            length: Tokens of every sentence; longer ones are cut.
            decodes: Whether a decoder gets sentences too, those of the other samples.
        """
        self._tokenizer = tokenizer
        self._length = length
        self._decodes = decodes
        self.batch_size = len(_TRACED)
        self.families = tuple(_FRESH)
        self.axes: Mapping[str, int] = {"length": length}
        self.unchanged: Mapping[str, str] = {
            name: "one segment is all that a single sentence has"
            for name in self.traced()
            if name == "token_type_ids"
        }

    def traced(self) -> dict[str, Any]:
        """Two sentences, both padded."""
        return self._tokenized(_TRACED)

    def fresh(
        self,
        family: str,
        batch_size: int | None = None,
        lengths: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        """Sentences of a family, repeated up to the batch, padded or cut to the length."""
        sentences = tuple(islice(cycle(_FRESH[family]), batch_size or self.batch_size))
        return self._tokenized(sentences, (lengths or {}).get("length"))

    def _tokenized(self, sentences: Sequence[str], length: int | None = None) -> dict[str, Any]:
        encoded = self._tokenizer(
            list(sentences),
            padding="max_length",
            truncation=True,
            max_length=length or self._length,
            return_tensors="pt",
        )
        if self._decodes:
            encoded["decoder_input_ids"] = encoded["input_ids"].flip(0)
        return dict(encoded)
