"""Makes docs/guide/examples/gallery.md and its pictures: domains from code, refined, validated exactly, and drawn.

    python -m scripts.make.gallery [NAME ...]

Needs the extra [view]. With names (of functions in gallery_domains.py) only these pictures are drawn, and the page is
not changed. If a mesh is wrong, the script reports the reason and exits with 1.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

import dmr
from dmr.mesh.shapes import bounding_box
from scripts.make.gallery_domains import EXHIBITS, Exhibit

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "examples" / "gallery.md"
IMAGES = ROOT / "docs" / "images" / "gallery"
WIDTH, TALLEST, LEGEND = 700, 600, 84  # pixels
COLOURS = 200  # palette size; a picture with a palette takes a third of the bytes
LARGEST_FILE = 120_000

HEAD = """# Gallery

Domains built in code with `dmr.domains` (see the [tutorial](../tutorial.md)), each refined by one call of
`dmr.refine(pslg, ...)`; the seconds are those of that call, with two CPU threads. `dmr.validate` verified every mesh
exactly against its domain: no vertex, segment or region is lost, and no angle is below the bound, except where small
angles of the domain itself make this impossible. The domains are in
[scripts/make/gallery_domains.py](../../../scripts/make/gallery_domains.py); `python -m scripts.make.gallery` makes this
page.
"""


@dataclass(frozen=True)
class Made:
    """An exhibit with the name of its function, its result, the seconds, and the faults of the mesh."""

    name: str
    exhibit: Exhibit
    result: dmr.Refinement
    seconds: float
    wrong: list[str]


def make(name: str, exhibit: Exhibit) -> Made:
    """Refines, validates and draws one exhibit."""
    started = time.perf_counter()
    result = dmr.refine(exhibit.pslg, **exhibit.options, on_conflict="error", device="cpu", threads=2)
    seconds = time.perf_counter() - started
    report = dmr.validate(
        result.mesh,
        input=exhibit.pslg,
        min_angle=exhibit.options.get("min_angle", 30.0),
        max_area=exhibit.options.get("max_area"),
        max_edge=exhibit.options.get("max_edge"),
        unrefined=result.unrefined_triangles,
    )
    wrong = [f"{failure.check}: {failure.message}" for failure in report.failures]
    wrong += [] if result.complete else ["the run ended early"]
    low_x, low_y, high_x, high_y = bounding_box(exhibit.pslg.vertices)
    height = min(round(WIDTH * (high_y - low_y) / (high_x - low_x)), TALLEST) + LEGEND
    target = IMAGES / f"{name}.png"
    dmr.view(result.mesh, color=exhibit.color, screenshot=target, window_size=(WIDTH, height))
    with Image.open(target) as picture:
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    if target.stat().st_size > LARGEST_FILE:
        wrong.append(f"the picture takes {target.stat().st_size:,} bytes; {LARGEST_FILE:,} are allowed")
    return Made(name, exhibit, result, seconds, wrong)


def page(made: list[Made]) -> str:
    """Text of docs/guide/examples/gallery.md."""
    lines = [HEAD]
    lines += ["| domain | corners | vertices | triangles | smallest angle | below the bound | seconds |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | --- | ---: |"]
    for each in made:
        mesh, anchor = each.result.mesh, each.exhibit.title.lower().replace(" ", "-")
        left = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in each.result.unrefined.items())
        lines.append(
            f"| [{each.exhibit.title}](#{anchor}) | {len(each.exhibit.pslg.vertices):,} | {len(mesh.vertices):,} "
            f"| {len(mesh.triangles):,} | {each.result.min_angle:.2f}° | {left or 'none'} "
            f"| {each.seconds:.2f} |"
        )
    for each in made:
        title, picture = each.exhibit.title, f"../../images/gallery/{each.name}.png"
        lines += ["", f"## {title}", "", each.exhibit.text, "", f"![{title}, meshed]({picture})"]
    return "\n".join([*lines, ""])


def main(names: list[str]) -> int:
    """Makes all exhibits, or the named ones; returns the exit code."""
    known = {function.__name__: function for function in EXHIBITS}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"there is no {unknown[0]}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    IMAGES.mkdir(parents=True, exist_ok=True)
    made = []
    for name in names or known:
        made.append(make(name, known[name]()))
        mesh, size = made[-1].result.mesh, (IMAGES / f"{name}.png").stat().st_size
        print(f"{name}: {len(mesh.triangles):,} triangles, {size:,} bytes")
        for reason in made[-1].wrong:
            print(f"{name}: WRONG: {reason}", file=sys.stderr)
    if not names:
        PAGE.write_text(page(made), encoding="utf-8")
    return 1 if any(each.wrong for each in made) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
