"""Where a checkpoint is, and whether it is one as far as its files tell; imports no torch."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from testing.checkpoint.errors import CheckpointError
from testing.checkpoint.weight_files import require_whole

__all__ = ["DTYPES", "Source"]

DTYPES: Final = ("auto", "float32", "float16", "bfloat16")
"""Dtypes that weights can be loaded in; ``auto`` is that of the file."""

_HUB_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True)
class Source:
    """A checkpoint, and how it is loaded; it crosses to a child as JSON.

    Attributes:
        name: A directory, or an id on the hub.
        model_class: transformers' class to load it as; None for the one that it names.
        trust_remote_code: Whether code that it brings along may run.
        dtype: One of `DTYPES`.
    """

    name: str
    model_class: str | None = None
    trust_remote_code: bool = False
    dtype: str = "auto"

    @property
    def is_local(self) -> bool:
        """Whether it is a directory."""
        return Path(self.name).is_dir()

    def to_dict(self) -> dict[str, Any]:
        """A form that JSON can carry."""
        return dataclasses.asdict(self)

    def require(self) -> None:
        """See what can be seen without loading it.

        Raises:
            CheckpointError: It is neither a directory nor an id, or no checkpoint is in there.
        """
        if self.is_local:
            self._require_files()
        elif Path(self.name).exists():
            raise CheckpointError(f"{self.name} is a file; give the directory of the checkpoint")
        elif not _HUB_ID.fullmatch(self.name):
            raise CheckpointError(f"there is no directory {self.name}, and it is no id of the hub")

    def _require_files(self) -> None:
        config = self._config()
        require_whole(Path(self.name))
        named = config.get("architectures") or []
        if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
            raise CheckpointError(
                f"{self.name}: architectures in its config.json is no list of names"
            )
        if not (self.model_class or named or config.get("model_type")):
            raise CheckpointError(
                f"{self.name}: its config.json has neither architectures nor a model_type; name "
                "the class to load it as with --model-class"
            )

    def _config(self) -> Mapping[str, Any]:
        path = Path(self.name) / "config.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CheckpointError(f"{self._is_none()}: it has no config.json") from None
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{self._is_none()}: {path.name}: {error}") from error
        if not isinstance(found, dict):
            raise CheckpointError(f"{self._is_none()}: {path.name} holds no JSON object")
        return found

    def _is_none(self) -> str:
        of = f" of {self.model_class}" if self.model_class else ""
        return f"{self.name} is no checkpoint{of}"
