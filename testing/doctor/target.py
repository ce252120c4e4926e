"""What runs in the child: a model is built or loaded, and the backend asked."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from exporters import get_backend
from exporters.base import Backend, Diagnosis, OpUse, Selection
from testing import json_lines
from testing.subject import Subject

__all__ = ["TARGET", "main"]

TARGET: Final = "testing.doctor.target:main"


def main(payload: Mapping[str, Any], report: Callable[[str], None]) -> dict[str, Any]:
    """The target of a child.

    Args:
        payload: ``backend``; ``model_class`` or ``checkpoint``, the fields of a `Source`;
            ``patches`` as ``on`` or ``off``; ``log``, a file that gets each use as it is seen;
            ``sketch``, whether code to start from is wanted.
        report: Told of each stage.
    """
    from testing.pipeline.prepare import normalise
    from testing.seeds import set_seed

    backend = get_backend(payload["backend"])
    report("build")
    subject = normalise(_subject(payload))
    report("diagnose")
    set_seed()
    found = backend.diagnose(
        subject.model,
        subject.inputs.traced(),
        Selection.parse(payload["patches"]),
        _appending(Path(payload["log"])),
    )
    assert found is not None, "a backend without a diagnosis is not asked"
    return _row(subject, found, backend, payload["sketch"])


def _subject(payload: Mapping[str, Any]) -> Subject:
    if payload["checkpoint"]:
        from testing import checkpoint

        fields = dict(payload["checkpoint"])
        return checkpoint.load(fields.pop("name"), fields.pop("model_class"), **fields)
    from testing import tiny

    return tiny.build(payload["model_class"])


def _appending(log: Path) -> Callable[[OpUse], None]:
    """Writes each use to a file, where it is left when the process dies."""

    def append(use: OpUse) -> None:
        json_lines.append(log, json.dumps(dataclasses.asdict(use)).encode("ascii"))

    return append


def _row(
    subject: Subject, found: Diagnosis, backend: Backend, wants_sketches: bool
) -> dict[str, Any]:
    config: Any = getattr(subject.model, "config", None)
    sketches = {use.op: backend.sketch(use) for use in found.uses} if wants_sketches else {}
    return {
        "model": type(subject.model).__name__,
        "model_type": getattr(config, "model_type", None),
        "sketches": {op: text for op, text in sketches.items() if text},
        **dataclasses.asdict(found),
    }
