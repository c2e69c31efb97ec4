"""List ranking by every method, and its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from static_graph.lists.generation import generate_list

__all__ = ["generate_list"]
__getattr__, __dir__ = lazy_names(__name__, {"generate_list": "static_graph.lists.generation"})
