"""The same domain in other positions and other numberings: what a mesh generator's order of insertion depends on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dmr
from scripts.lib.sizes.domains import Domain, Float, Size


@dataclass(frozen=True)
class Variant:
    """A position and a numbering of a domain.

    Attributes:
        degrees: angle by which the domain is turned around the origin.
        mirrored: whether it is reflected in the y axis first.
        start: where each ring begins, as a fraction of its corners.
        reverse: whether rings run in the other direction.
        holes_first: whether the corners of holes are numbered before those of the outline.
    """

    degrees: float = 0.0
    mirrored: bool = False
    start: float = 0.0
    reverse: bool = False
    holes_first: bool = False

    def of(self, domain: Domain, size: Size) -> tuple[Domain, Size]:
        """Returns the domain and its sizes in this position and numbering."""
        matrix = self._matrix()
        order = [*range(1, len(domain.rings)), 0] if self.holes_first else list(range(len(domain.rings)))
        corners = [self._numbered(domain.outline.vertices[domain.rings[ring]]) @ matrix for ring in order]
        ends = np.cumsum([0, *map(len, corners)])
        ranges = {ring: range(int(ends[k]), int(ends[k + 1])) for k, ring in enumerate(order)}
        segments = [np.stack([each, np.roll(each, -1)], axis=1) for each in map(np.array, ranges.values())]
        holes = np.reshape(domain.outline.holes, (-1, 2)) @ matrix
        outline = dmr.Pslg(np.concatenate(corners), np.concatenate(segments), holes=holes)
        placed = _turned(size, matrix) if callable(size) else size
        return Domain(outline, [ranges[ring] for ring in range(len(domain.rings))], placed), placed

    def _matrix(self) -> Float:
        angle = np.radians(self.degrees)
        cosine, sine = np.cos(angle), np.sin(angle)
        turned = np.array([[cosine, sine], [-sine, cosine]])
        return np.diag([-1.0, 1.0]) @ turned if self.mirrored else turned

    def _numbered(self, ring: Float) -> Float:
        shifted = np.roll(ring, -round(self.start * len(ring)), axis=0)
        return shifted[::-1] if self.reverse else shifted


def _turned(size: Size, matrix: Float) -> Size:
    assert callable(size)
    return lambda points: size(points @ matrix.T)  # the inverse of a rotation or reflection is its transpose


VARIANTS = (
    Variant(),
    Variant(degrees=17),
    Variant(start=1 / 3),
    Variant(degrees=73, mirrored=True),
    Variant(reverse=True, holes_first=True),
    Variant(degrees=131, start=0.5, holes_first=True),
    Variant(degrees=90, reverse=True),
    Variant(degrees=252, mirrored=True, start=2 / 3, reverse=True),
    Variant(degrees=45, start=0.5),
    Variant(mirrored=True, holes_first=True),
    Variant(degrees=180, start=0.2, reverse=True),
    Variant(degrees=310, holes_first=True),
)
