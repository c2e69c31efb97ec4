"""Names in pickles of version 0.1.0: size fields held their search structures, which are built again now."""

from __future__ import annotations


class SearchStructure:
    """A structure that a pickle holds, and that nothing uses."""


Background = EdgeTree = TriangleGrid = SearchStructure
