"""ONNX programs: checked, then opened in ONNX Runtime on one thread."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime

__all__ = ["check", "session_options"]


def check(model: onnx.ModelProto) -> tuple[str, ...]:
    """Check a program as ``onnx.checker`` does; returns what a reader must know.

    The full check infers shapes strictly. Where only that fails, as it does on operators of
    which ONNX has no shapes, the program is valid and the note says so.

    Raises:
        onnx.checker.ValidationError: The program is not valid ONNX.
    """
    onnx.checker.check_model(model)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return (f"onnx.checker infers no shapes of it: {str(error).strip().splitlines()[0]}",)
    return ()


def session_options() -> Any:
    """One thread, since every worker runs cases of its own; ONNX Runtime would take all cores."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options
