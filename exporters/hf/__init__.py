"""Backends that export with transformers' own exporters."""

from __future__ import annotations

from exporters.hf.backend import INSTALL, VARIANTS, HfBackend, has_exporters

__all__ = ["INSTALL", "VARIANTS", "HfBackend", "has_exporters"]
