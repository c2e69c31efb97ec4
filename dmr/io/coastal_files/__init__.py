"""Mesh files of hydrodynamic models: `.2dm` of SMS, and `fort.14` (`.14`, `.grd`) of ADCIRC."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = (".2dm", ".14", ".grd")


def is_coastal(path: Path) -> bool:
    """Whether a file of this name is read and written by this package; `fort.14` has the suffix .14."""
    return path.suffix.lower() in SUFFIXES
