"""Compares the sizes of dmr's meshes with Triangle's, on seeded domains of many kinds.

    python -m scripts.compare.sizes                                          # all families, a quarter of an hour
    python -m scripts.compare.sizes --families coasts --sizes 100 --angles 30 33 --seeds 5
    python -m scripts.compare.sizes --save worst --json sizes.jsonl

Each domain (scripts/lib/random_domains.py) is refined by `dmr.refine` and by Triangle with the same bounds: an angle
alone, and an angle with a largest area. Both run in separate processes, so that a crash or a hang loses one input only.
Sizes are compared if both programs made a mesh of the same area. Beside small corners both leave triangles below the
bound; the summary counts the cases in which dmr leaves more of them than Triangle.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import dmr
from dmr.mesh.shapes import triangle_areas
from scripts.lib.guarded import Guarded, triangle_mesh
from scripts.lib.random_domains import FAMILIES, domain
from scripts.lib.sides import Side, falls_short, geometric_mean, measured, same_domain

WORST = 10


@dataclass(frozen=True, kw_only=True)
class Case:
    """One domain with its bounds."""

    family: str
    n: int
    seed: int
    angle: float
    max_area: float | None

    def __str__(self) -> str:
        area = "" if self.max_area is None else f", area {self.max_area:g}"
        return f"{self.family}-{self.n}-{self.seed} at {self.angle:g}{area}"


@dataclass(kw_only=True)
class Row:
    """Results for a case; the fields of a record of --json."""

    case: Case
    ours: Side
    triangle: Side
    size: float | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares; returns 1 if dmr failed on a domain or made an invalid mesh, else 0."""
    options = parser().parse_args(arguments)
    logging.getLogger("dmr").setLevel(logging.ERROR)
    rows: list[Row] = []
    with Guarded(refined, options.limit) as ours, Guarded(triangle_mesh, options.triangle_limit) as peer:
        for family in options.families:
            for n in options.sizes:
                for seed in range(options.seeds):
                    pslg = domain(family, n, seed)
                    for case in cases(family, n, seed, pslg, options.angles, options.areas):
                        row = compare(case, pslg, ours, peer, validate=options.validate)
                        rows.append(row)
                        report(row, verbose=options.verbose)
                        if options.json is not None:
                            with options.json.open("a", encoding="utf-8") as file:
                                file.write(json.dumps(asdict(row)) + "\n")
    print("\n".join(summary(rows)))
    if options.save is not None:
        save(worst(rows), options.save)
    return int(any(row.ours.outcome != "mesh" or row.ours.valid is False for row in rows))


def cases(
    family: str, n: int, seed: int, pslg: dmr.Pslg, angles: Sequence[float], areas: Sequence[str]
) -> Iterator[Case]:
    """Yields a domain with all bounds. A largest area has few digits, so that both programs get the same number."""
    total = float(triangle_areas(dmr.triangulate(pslg)).sum())
    bounds = {"without": None, "with": float(f"{total / (3 * n + 300):.9f}")}
    for area in areas:
        for angle in angles:
            yield Case(family=family, n=n, seed=seed, angle=angle, max_area=bounds[area])


def refined(pslg: dmr.Pslg, angle: float, max_area: float | None, validate: bool) -> Side:
    """Refines with dmr and measures the mesh; runs in a guarded process."""
    result = dmr.refine(pslg, min_angle=angle, max_area=max_area, device="cpu", threads=1)
    side = measured(result.mesh, angle)
    side.outcome = "mesh" if result.complete else "limit"
    side.unrefined = {reason: count for reason, count in result.unrefined.items() if count}
    side.seconds = result.seconds["total"]
    if validate:
        found = dmr.validate(result.mesh, input=dmr.triangulate(pslg), min_angle=angle, max_area=max_area)
        side.valid = found.ok
        side.why = "; ".join(map(str, found.failures))[:300]
    return side


def compare(case: Case, pslg: dmr.Pslg, ours: Guarded, peer: Guarded, *, validate: bool) -> Row:
    """Runs both programs on one case."""
    answer = ours(pslg, case.angle, case.max_area, validate)
    our_side = answer.value if not answer.failure else Side(outcome="failed", text=answer.failure)
    switches = f"pq{case.angle:g}" + ("" if case.max_area is None else f"a{case.max_area:.9f}")
    answer = peer(pslg, switches)
    if answer.value is None:
        peer_side = Side(outcome="failed" if answer.failure else "zero", text=answer.failure)
    else:
        peer_side = measured(answer.value, case.angle)
    peer_side.seconds = answer.seconds
    size = our_side.triangles / peer_side.triangles if same_domain(our_side, peer_side) else None
    return Row(case=case, ours=our_side, triangle=peer_side, size=size)


# ---- Output --------------------------------------------------------------------------------------------------------


def report(row: Row, *, verbose: bool) -> None:
    """Prints a case that went wrong; with --verbose, every case."""
    ours, peer = row.ours, row.triangle
    strange = ours.outcome != "mesh" or ours.valid is False or (row.size is None and peer.outcome == "mesh")
    if strange or verbose:
        size = "no ratio" if row.size is None else f"{row.size:.3f}"
        print(f"{row.case}: {size}; ours {told(ours)}; Triangle's {told(peer)}", flush=True)


def told(side: Side) -> str:
    """Short description of a side's result."""
    if side.area is None:
        return f"{side.outcome} {side.text}".strip()
    text = f"{side.outcome}, {side.triangles} triangles, {side.below} below, area {side.area:.12g}"
    return (
        text + f", unrefined {side.unrefined}" * bool(side.unrefined) + f", INVALID {side.why}" * (side.valid is False)
    )


def summary(rows: list[Row]) -> list[str]:
    """Medians, geometric means and maxima by bounds, by family and by number of vertices."""
    lines = []
    form = "{:22} {:>6} {:>8} {:>10} {:>8} {:>9}"
    for title, groups in (
        ("by bounds", [(f"{row.case.angle:g}" + (", area" if row.case.max_area else ""), row) for row in rows]),
        ("by family", [(row.case.family, row) for row in rows]),
        ("by vertices", [(str(row.case.n), row) for row in rows]),
        ("", [("all", row) for row in rows]),
    ):
        lines += ["", form.format(title, "cases", "median", "geom. mean", "largest", "together")]
        for name in dict.fromkeys(name for name, _ in groups):
            chosen = [row for key, row in groups if key == name and row.size is not None]
            sizes = [row.size for row in chosen if row.size is not None]
            if sizes:
                together = sum(row.ours.triangles for row in chosen) / sum(row.triangle.triangles for row in chosen)
                values = (statistics.median(sizes), geometric_mean(sizes), max(sizes), together)
                lines.append(form.format(name, len(sizes), *(f"{value:.3f}" for value in values)))
    lines += ["", "the worst:", *(f"  {row.size:.3f}  {row.case}  {told(row.ours)}" for row in worst(rows))]
    ours, peer = (Counter(getattr(row, side).outcome for row in rows) for side in ("ours", "triangle"))
    lines += ["", f"ours: {dict(ours)} | Triangle: {dict(peer)}"]
    lines.append(f"not compared: {sum(row.size is None for row in rows)} of {len(rows)}")
    more = sum(falls_short(row.ours, row.triangle) for row in rows)
    fewer = sum(falls_short(row.triangle, row.ours) for row in rows)
    lines.append(f"triangles below the bound: more than Triangle's in {more} cases, fewer in {fewer}")
    return lines


def worst(rows: list[Row]) -> list[Row]:
    """Rows with the largest sizes, one per domain."""
    ranked = sorted((row for row in rows if row.size is not None), key=lambda row: row.size or 0, reverse=True)
    found: dict[tuple[str, int, int], Row] = {}
    for row in ranked:
        found.setdefault((row.case.family, row.case.n, row.case.seed), row)
    return list(found.values())[:WORST]


def save(rows: list[Row], folder: Path) -> None:
    """Writes the domains as .poly files."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        case = row.case
        dmr.write(folder / f"{case.family}-{case.n}-{case.seed}.poly", domain(case.family, case.n, case.seed))


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="NAME",
        help=f"of {', '.join(FAMILIES)}")  # fmt: skip
    sizes = [5, 20, 100, 500, 2000, 5000]
    add("--sizes", nargs="+", type=int, default=sizes, metavar="N", help=f"vertices, approximate (default: {sizes})")
    add("--seeds", type=int, default=2, metavar="N", help="domains per family and size (default: 2)")
    add("--angles", nargs="+", type=float, default=[20.0, 25.0, 28.0, 30.0, 33.0], metavar="DEG")
    add("--areas", nargs="+", choices=("without", "with"), default=["without", "with"], help="a largest area")
    add("--limit", type=float, default=60.0, metavar="S", help="seconds per run of dmr (default: 60)")
    add("--triangle-limit", type=float, default=20.0, metavar="S", help="seconds per run of Triangle (default: 20)")
    add("--validate", action="store_true", help="prove the meshes of dmr")
    add("--save", type=Path, metavar="FOLDER", help="write the worst domains there, as .poly files")
    add("--json", type=Path, metavar="FILE", help="append a record of each case, one JSON object per line")
    add("-v", "--verbose", action="store_true", help="print every case")
    return found


if __name__ == "__main__":
    sys.exit(main())
