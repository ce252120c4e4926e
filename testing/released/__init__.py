"""Model types and classes of each supported transformers, in a file of its own: `names --write`.

They tell a name that another supported version has from one that none has.
"""

from __future__ import annotations

from testing.released.lists import (
    DIRECTORY,
    UnsupportedVersionError,
    classes,
    classes_by_type,
    installed,
    model_types,
    nearest,
    text_of,
    versions,
    versions_with,
    write,
)

__all__ = [
    "DIRECTORY",
    "UnsupportedVersionError",
    "classes",
    "classes_by_type",
    "installed",
    "model_types",
    "nearest",
    "text_of",
    "versions",
    "versions_with",
    "write",
]
