"""Draws the pictures of the documentation into docs/images, from the samples in meshes.

    python -m scripts.make.pictures

Needs the extra [view]. The pictures are committed: run this script when a sample, the colours or the refinement change.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

import dmr
from dmr.errors import DmrError
from dmr.mesh.statistics import summarise

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"

# Sample, largest area, name of the picture, its size in pixels.
PICTURES = (
    ("plate.ele", None, "plate.png", (1640, 560)),
    ("corner.ele", 0.02, "corner.png", (1640, 920)),
)


def draw(sample: Path, max_area: float | None, target: Path, size: tuple[int, int]) -> None:
    """Draws a mesh beside its refinement to 30 degrees, every triangle coloured by its smallest angle."""
    before = dmr.read(sample)
    if not isinstance(before, dmr.Mesh):
        raise DmrError(f"{sample} holds an outline, not a mesh")
    after = dmr.refine(before, max_area=max_area, device="cpu").mesh
    titles = tuple(f"{word}: {caption(mesh)}" for word, mesh in (("before", before), ("after", after)))
    dmr.view(before, compare=after, screenshot=target, window_size=size, titles=titles)
    with Image.open(target) as picture:
        picture.save(target, optimize=True)


def caption(mesh: dmr.Mesh) -> str:
    """Caption with the number of triangles and their smallest angle."""
    found = summarise(mesh, bound=30.0)
    return f"{found.triangles:,} triangles, angles from {found.min_angle:.1f}°"


def main() -> int:
    """Draws all pictures; returns the exit code."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for sample, max_area, name, size in PICTURES:
        draw(ROOT / "meshes" / sample, max_area, IMAGES / name, size)
        print(f"docs/images/{name}: {(IMAGES / name).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
