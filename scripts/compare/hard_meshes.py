"""Refines every .poly file under a folder with `dmr refine` and with Triangle, and reports the outcomes.

    python -m scripts.compare.hard_meshes                                # ../shared/hard_meshes, at 20 and 30 degrees
    python -m scripts.compare.hard_meshes cdt --json out.jsonl --jobs 2  # the files whose path holds "cdt"

dmr runs as `python -m dmr refine FILE -q ANGLE` in a separate process, and then `python -m dmr validate` checks the
result. An error is clear if the exit code is 1 or 2 and stderr holds one sentence with "error". Triangle runs as the
Python package `triangle` with `pq20`, `pq30`, also in a guarded process; with --baseline its results are those in the
folder's triangle_baseline.txt.

    size      triangles of dmr over Triangle's, on ordinary inputs: both made a mesh of the same area, and that of dmr
              has no more triangles below the bound than Triangle's
    expected  the outcome in the manifest, marked ! if that of dmr differs
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dmr
from dmr.errors import DmrError
from scripts.lib.guarded import Guarded, triangle_mesh
from scripts.lib.sides import Side, falls_short, geometric_mean, measured, same_domain

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT.parent / "shared" / "hard_meshes"


@dataclass(kw_only=True)
class Row:
    """One file at one angle."""

    file: str
    angle: float
    expected: str
    ours: Side
    triangle: Side
    size: float | None = None

    @property
    def surprising(self) -> bool:
        """Whether the outcome differs from that in the manifest."""
        made = self.ours.outcome in ("mesh", "limit")
        refused = self.ours.outcome == "error"
        wanted = self.expected.lower()
        if wanted == "ok":
            return not made
        if wanted in ("error", "clear error", "degenerate: clear error"):
            return not refused
        return not (made or refused)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares; returns 1 if a run of dmr crashed, hung, was unclear or made an invalid mesh."""
    options = parser().parse_args(arguments)
    if not options.folder.is_dir():
        print(f"compare_hard_meshes: there is no folder {options.folder}", file=sys.stderr)
        return 2
    expected = manifest(options.folder)
    files = sorted(path for path in options.folder.rglob("*.poly") if all(word in str(path) for word in options.words))
    baseline = read_baseline(options.folder) if options.baseline else None
    tasks = [(path, angle) for path in files for angle in options.angles]

    def compare(task: tuple[Path, float]) -> Row:
        path, angle = task
        name = path.relative_to(options.folder).as_posix()
        ours = run_ours(path, angle, options.limit)
        if baseline is None:
            peer = run_triangle(path, angle, options.triangle_limit)
        else:
            peer = baseline.get((name, angle), Side(outcome="unreadable", text="not in the baseline"))
        row = Row(file=name, angle=angle, expected=expected.get(name, ""), ours=ours, triangle=peer)
        if same_domain(ours, peer) and not falls_short(ours, peer):
            row.size = ours.triangles / peer.triangles
        return row

    rows: list[Row] = []
    print(HEAD, flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(compare, tasks):
            rows.append(row)
            print(line(row), flush=True)
            if options.json is not None:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**asdict(row), "surprising": row.surprising}) + "\n")
    print("\n".join(summary(rows)))
    wrong = ("crash", "timeout", "unclear")
    return int(any(row.ours.outcome in wrong or row.ours.valid is False for row in rows))


# ---- dmr -----------------------------------------------------------------------------------------------------------


def run_ours(path: Path, angle: float, limit: float) -> Side:
    """Runs `dmr refine` and `dmr validate`, each in a separate process."""
    with tempfile.TemporaryDirectory(prefix="dmr-") as folder:
        out = Path(folder) / "out.ele"
        started = time.perf_counter()
        try:
            done = run("refine", path, "-q", f"{angle:g}", "-o", out, "--json", limit=limit)
        except subprocess.TimeoutExpired:
            return Side(outcome="timeout", text=f"after {limit:g} s", seconds=limit)
        seconds = time.perf_counter() - started
        if done.returncode not in (0, 3):
            return failed(done, seconds)
        said = json.loads(done.stdout)
        side = measured(read_mesh(out), angle)
        side.outcome = "mesh" if done.returncode == 0 else "limit"
        side.text = "; ".join(said["warnings"])
        side.unrefined = {reason: count for reason, count in said["unrefined"].items() if count}
        side.seconds = seconds
        try:
            checked = run("validate", out, "--input", path, "--min-angle", f"{angle:g}", "--json", limit=10 * limit)
        except subprocess.TimeoutExpired:
            side.valid, side.why = False, "validate did not end"
            return side
        side.valid = checked.returncode == 0
        side.why = why(checked)
        return side


def read_mesh(path: Path) -> dmr.Mesh:
    """Reads the mesh that dmr wrote."""
    mesh = dmr.read(path)
    assert isinstance(mesh, dmr.Mesh)
    return mesh


def run(command: str, *arguments: Any, limit: float) -> subprocess.CompletedProcess[str]:
    """Runs a command of dmr."""
    return subprocess.run(
        [sys.executable, "-m", "dmr", command, *map(str, arguments)],
        capture_output=True, text=True, timeout=limit, cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def failed(done: subprocess.CompletedProcess[str], seconds: float) -> Side:
    """Outcome of a run without a mesh. A clear error is one error line after any number of warnings."""
    lines = [each for each in done.stderr.splitlines() if each.strip()]
    errors = [each for each in lines if each.startswith("dmr: error: ")]
    text = errors[-1].removeprefix("dmr: error: ") if errors else (lines or ["nothing was said"])[-1]
    if done.returncode < 0 or done.returncode == 5 or "Traceback" in done.stderr:
        return Side(outcome="crash", text=f"exit code {done.returncode}: {text}", seconds=seconds)
    clear = done.returncode in (1, 2) and len(errors) == 1 and all(each.startswith("dmr: ") for each in lines)
    return Side(outcome="error" if clear else "unclear", text=text, seconds=seconds)


def why(checked: subprocess.CompletedProcess[str]) -> str:
    """Findings of `dmr validate`."""
    if checked.returncode not in (0, 5):
        return checked.stderr.strip()
    report = json.loads(checked.stdout)
    if checked.returncode == 5:
        return json.dumps(report.get("failures", report.get("counts")))[:500]
    excused = report.get("exceptions") or ()
    return f"{len(excused)} excused" if excused else ""


# ---- Triangle ------------------------------------------------------------------------------------------------------


def run_triangle(path: Path, angle: float, limit: float) -> Side:
    """Runs Triangle on the file as dmr reads it; with `a` if regions bound areas, since `dmr refine` respects these."""
    try:
        pslg = dmr.read(path)
    except DmrError as error:
        return Side(outcome="unreadable", text=str(error))
    assert isinstance(pslg, dmr.Pslg)
    switches = f"pq{angle:g}" + ("a" if (pslg.regions[:, 3] > 0).any() else "")
    with Guarded(triangle_mesh, limit, fresh=True) as triangulate:
        answer = triangulate(pslg, switches)
    if answer.failure:
        kind = "timeout" if answer.failure == "TIMEOUT" else "error" if "error" in answer.failure else "crash"
        return Side(outcome=kind, text=answer.failure, seconds=answer.seconds)
    if answer.value is None:
        return Side(outcome="zero", seconds=answer.seconds)
    side = measured(answer.value, angle)
    side.seconds = answer.seconds
    return side


_BASELINE = re.compile(r"(?P<file>\S+) pq(?P<angle>[\d.]+)Q (?P<rest>.*) (?P<seconds>[\d.]+)$")
_MESH = re.compile(r"(?P<vertices>\d+) (?P<triangles>\d+) minang=(?P<angle>\S+)$")


def read_baseline(folder: Path) -> dict[tuple[str, float], Side]:
    """Results in triangle_baseline.txt by file and angle. They have no areas, so no size ratios are computed."""
    found = {}
    for text in (folder / "triangle_baseline.txt").read_text(encoding="utf-8").splitlines():
        entry = _BASELINE.match(text)
        if entry is None:
            continue
        rest, mesh = entry["rest"], _MESH.match(entry["rest"])
        side = Side(outcome="error", text=rest)
        if mesh is not None:
            side = Side(outcome="mesh", vertices=int(mesh["vertices"]), triangles=int(mesh["triangles"]))
            side.min_angle = float(mesh["angle"])
        elif rest.startswith("0 triangles"):
            side.outcome = "zero"
        elif rest.startswith("TIMEOUT"):
            side.outcome = "timeout"
        elif rest.startswith("rc=-"):
            side.outcome = "crash"
        side.seconds = float(entry["seconds"])
        found[entry["file"], float(entry["angle"])] = side
    return found


def manifest(folder: Path) -> dict[str, str]:
    """Expected outcome of each file."""
    path = folder / "manifest.json"
    if not path.is_file():
        return {}
    return {entry["file"]: entry["expect"] for entry in json.loads(path.read_text(encoding="utf-8"))}


# ---- Output --------------------------------------------------------------------------------------------------------

FORMAT = "{:44} {:>3} | {:8} {:>7} {:>7} {:>6} {:>5} {:>6} {:7} | {:10} {:>7} {:>7} {:>6} {:>5} {:>6} | {:>5} {}"
HEAD = FORMAT.format(
    "file", "q", "ours", "vert", "tri", "angle", "below", "s", "valid",
    "Triangle", "vert", "tri", "angle", "below", "s", "size", "expected",
)  # fmt: skip


def line(row: Row) -> str:
    """Table row, followed by notes."""

    def figures(side: Side) -> list[str]:
        if side.min_angle is None:
            return ["", "", "", "", f"{side.seconds:.2f}"]
        below = "?" if side.below is None else str(side.below)
        return [str(side.vertices), str(side.triangles), f"{side.min_angle:.2f}", below, f"{side.seconds:.2f}"]

    text = FORMAT.format(
        row.file[-44:], f"{row.angle:g}", row.ours.outcome, *figures(row.ours),
        {None: "", True: "valid", False: "INVALID"}[row.ours.valid], row.triangle.outcome, *figures(row.triangle),
        "" if row.size is None else f"{row.size:.3f}", ("! " if row.surprising else "") + row.expected,
    ).rstrip()  # fmt: skip
    notes = [f"ours: {row.ours.text}"] * bool(row.ours.text) + [f"valid: {row.ours.why}"] * bool(row.ours.why)
    notes += [f"unrefined: {row.ours.unrefined}"] * bool(row.ours.unrefined)
    notes += [f"Triangle: {row.triangle.text}"] * bool(row.triangle.text)
    return "\n".join([text, *(f"        {note}" for note in notes)])


def summary(rows: list[Row]) -> list[str]:
    """Counts of both programs, and the size ratios."""
    ours, peer = (Counter(getattr(row, side).outcome for row in rows) for side in ("ours", "triangle"))
    invalid = sum(row.ours.valid is False for row in rows)
    lines = [
        f"ours: {ours['mesh']} meshes ({invalid} invalid), {ours['limit']} stopped by a limit, "
        f"{ours['error']} clear errors, {ours['unclear']} unclear ones, {ours['crash']} crashes, "
        f"{ours['timeout']} hangs | Triangle: {peer['mesh']} meshes, {peer['zero']} silent zeros, "
        f"{peer['crash']} crashes, {peer['timeout']} timeouts, {peer['error']} errors, "
        f"{peer['unreadable']} not run",
        f"{sum(row.surprising for row in rows)} of {len(rows)} runs are not what the manifest expects",
    ]
    for angle in sorted({row.angle for row in rows}):
        sizes = [(row.size, row.file) for row in rows if row.size is not None and row.angle == angle]
        if sizes:
            ratios = [size for size, _ in sizes]
            largest, where = max(sizes)
            lines.append(
                f"{angle:g} degrees: size over Triangle's on {len(sizes)} ordinary inputs: geometric mean "
                f"{geometric_mean(ratios):.3f}, median {statistics.median(ratios):.3f}, all together "
                f"{together(rows, angle):.3f}, largest {largest:.3f} ({where})"
            )
    return lines


def together(rows: list[Row], angle: float) -> float:
    """Total triangles of dmr over Triangle's total."""
    chosen = [row for row in rows if row.size is not None and row.angle == angle]
    return sum(row.ours.triangles for row in chosen) / sum(row.triangle.triangles for row in chosen)


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("words", nargs="*", metavar="WORD", help="only the files whose path holds all of these")
    add("--folder", type=Path, default=FOLDER, metavar="FOLDER", help="default: ../shared/hard_meshes")
    add("--angles", type=float, nargs="+", default=[20.0, 30.0], metavar="DEG", help="default: 20 30")
    add("--limit", type=float, default=60.0, metavar="S", help="seconds per run of dmr (default: 60)")
    add("--triangle-limit", type=float, default=6.0, metavar="S", help="seconds per run of Triangle (default: 6)")
    add("--baseline", action="store_true", help="read Triangle's results from triangle_baseline.txt; no size ratios")
    add("--jobs", type=int, default=1, metavar="N", help="number of files processed at a time (default: 1)")
    add("--json", type=Path, metavar="FILE", help="append a record of each run, one JSON object per line")
    return found


if __name__ == "__main__":
    sys.exit(main())
