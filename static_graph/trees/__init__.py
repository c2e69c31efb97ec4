"""Euler tours of rooted forests, and what is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from static_graph.trees.tours import Tree, euler_tour

__all__ = ["Tree", "euler_tour"]
__getattr__, __dir__ = lazy_names(
    __name__, {"Tree": "static_graph.trees.tours", "euler_tour": "static_graph.trees.tours"}
)
