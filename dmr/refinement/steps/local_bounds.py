"""The two bounds on triangles that depend on the place: on edges, and on areas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
Other = TypeVar("Other")


@dataclass(frozen=True)
class LocalBounds(Generic[T]):
    """Something for each bound, such as its source or its values; None where there is no such bound.

    Attributes:
        max_edge: of the bound on the longest edge; area_root: of the bound on the square root of the area.
    """

    max_edge: T | None = None
    area_root: T | None = None

    def __bool__(self) -> bool:
        """Whether there is any bound."""
        return self.max_edge is not None or self.area_root is not None

    def map(self, convert: Callable[[T], Other]) -> LocalBounds[Other]:
        """Returns what a function makes of what is there for each bound."""
        return LocalBounds(
            None if self.max_edge is None else convert(self.max_edge),
            None if self.area_root is None else convert(self.area_root),
        )

    def only(self, wanted: Callable[[T], bool]) -> LocalBounds[T]:
        """Returns the same without what a test refuses."""
        return LocalBounds(
            self.max_edge if self.max_edge is not None and wanted(self.max_edge) else None,
            self.area_root if self.area_root is not None and wanted(self.area_root) else None,
        )

    def beside(self, other: LocalBounds[Other]) -> Iterator[tuple[T, Other]]:
        """Yields what this and another one have for the same bound, where both have something."""
        for mine, its in ((self.max_edge, other.max_edge), (self.area_root, other.area_root)):
            if mine is not None and its is not None:
                yield mine, its
