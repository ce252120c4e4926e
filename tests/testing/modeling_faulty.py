"""A model whose forward dies on request, in a file that is named as transformers names its own."""

from __future__ import annotations

import ctypes
import os

import torch


class FaultyModel(torch.nn.Module):
    """Linear in eager; while `fault` is set, as a backend does around its trace, it dies."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(3, 3)
        self.fault: str | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.fault == "abort":
            os.write(2, b"F0000 00:00 client.cc:1] Check failed: data != nullptr PjRt is null\n")
            os.abort()
        if self.fault == "segfault":
            ctypes.string_at(0)
        if self.fault == "hang":
            ctypes.PyDLL(None).sleep(60)
        if self.fault == "exit":
            os._exit(0)
        return self.linear(x)
