"""The exact checker of meshes; it shares no predicate with the code that it checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.validation.checker import validate
    from dmr.validation.report import Report

__all__ = ["Report", "validate"]
__getattr__, __dir__ = lazy_names(__name__, {"Report": "dmr.validation.report", "validate": "dmr.validation.checker"})
