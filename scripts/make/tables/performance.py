"""Tables of the README and of the page on performance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import geometric_mean

from scripts.lib.markdown import table
from scripts.lib.measuring import refinement_phases
from scripts.make.tables.records import Record, bench, middle, significant

CORES, H200, LARGE = "2026-11-23-2-cores", "2026-11-23-h200", "2026-11-23-h200-scaling"
COMMANDS = "2026-11-22-2-cores-command"
SMALL = ("2026-11-22-2-cores-small", "2026-11-22-h200-small")
DOMAINS = ("2026-11-27-2-cores-domains", "2026-11-26-h100-domains")
TRIANGULATIONS = "2026-11-23-2-cores-triangulate"
TRIANGULATORS = "2026-11-26-2-cores-triangulators"
SMALL_MESHES = ("random 100", "random 300", "random 1,000", "random 3,000", "random 10,000", "graded.ele", "sample.ele")
DOMAIN_TITLES = {
    "regional-land": "regional land",
    "coast": "coast, 100,000 vertices",
    "circle-5000": "circle of 5,000",
    "circle-20000": "circle of 20,000",
    "channel-100000@20": "channel, 100,000 : 1, 20°",
    "channel-100000@30": "the same, 30°",
    "near-concurrent@5": "near-concurrent, 5°",
    "large-cavities@20": "large cavities, 20°",
    "plate-1e-3": "plate, largest area 1e-3",
    "plate-1e-4": "plate, largest area 1e-4",
    "plate-1e-5": "plate, largest area 1e-5",
    "plate-2e-6": "plate, largest area 2e-6",
}
PROGRAMS = {
    "whole": "`dmr.triangulate`",
    "triangle": "Triangle, `-p`",
    "cdt": "CDT (pythoncdt)",
    "cgal": "CGAL, its Python bindings",
    "gmsh": "Gmsh, `algorithm.triangulate`",
    "meshpy": "MeshPy (Triangle)",
    "qhull": "Qhull (scipy)",
    "matplotlib": "Qhull (matplotlib)",
    "geos": "GEOS (shapely)",
    "startinpy": "startinpy",
    "dylaunator": "dylaunator",
    "adaptive": "adaptive-triangulation",
}
TRIANGULATED = {"points": "random points", "segments": "points and segments", "polygon": "a polygon"}


def speed() -> str:
    """The README's table: refinement of random points on each machine."""
    body = []
    for name, title in ((CORES, "2 cores (AMD EPYC)"), (H200, "")):
        for row in sorted(bench(name), key=lambda row: -row["threads"] if name == H200 else row["threads"]):
            on_gpu = row["threads"] == 0
            where = title or ("NVIDIA H200" if on_gpu else "16 cores (Intel Xeon) of an H200 host")
            threads = f"{row['threads']} thread{'s' if row['threads'] > 1 else ''}"
            ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
            body.append(
                [where, f"{row['triangles_in']:,}", "GPU" if on_gpu else threads, _seconds(row["refine"]), ratio,
                 _seconds(row["wall"]), f"{row['triangles']:,}"]
            )  # fmt: skip
    largest = bench(LARGE)[-1]
    found = largest["found"]
    body.append(
        ["NVIDIA H200", f"{largest['triangles_in']:,}", "GPU", _seconds(found["refine"]), "-", _seconds(found["wall"]),
         f"{found['triangles']:,}"]
    )  # fmt: skip
    head = ("machine", "triangles in", "run on", "refine", "over Triangle's time", "whole call", "triangles out")
    return table(head, body)


def ratios() -> str:
    """The README's sentences on Triangle: sizes, whole commands, and domains."""
    (size,) = {f"{row['size']:.2f}" for row in bench(CORES)}
    commands = {row["name"]: f"{row['ratio']:.2f}" for row in bench(COMMANDS)}
    one, _, _ = _means()
    return (
        f"The results have {size} times as many triangles as Triangle's. The whole command, `dmr refine` with `.node` "
        f"and `.ele` files in and out, takes {commands['dmr .ele']} of the time of `triangle -rq30` on the 2 cores, "
        f"with `.npz` {commands['dmr .npz']}. Over {_compared()} realistic domains the geometric mean is {one:.2f} of "
        "Triangle's time on one thread."
    )


def domain_means() -> str:
    """Geometric means over the domains that Triangle finishes."""
    one, two, size = _means()
    return (
        f"Over the {_compared()} domains that Triangle finishes within a minute the geometric means are {one:.2f} of "
        f"Triangle's time on one thread, {two:.2f} on two, and {size:.3f} of its triangles."
    )


def _means() -> tuple[float, float, float]:
    """Geometric means of the ratios of times on one thread and on two, and of the ratio of sizes."""
    cores = _domains(DOMAINS[0])
    found = [
        [row[name] for row in cores[threads].values()] for threads, name in ((1, "ratio"), (2, "ratio"), (1, "size"))
    ]
    one, two, size = (geometric_mean([value for value in values if value is not None]) for values in found)
    return one, two, size


def _compared() -> int:
    """Number of domains with a ratio."""
    return sum(row["ratio"] is not None for row in _domains(DOMAINS[0])[1].values())


def small_meshes() -> str:
    """Whole calls and refinements of small meshes."""
    cores, gpu = ({(row["mesh"], row["threads"]): row for row in bench(name)[0]["rows"]} for name in SMALL)
    body = []
    for mesh in SMALL_MESHES:
        one, two, on_gpu = cores[mesh, 1], cores[mesh, 2], gpu[mesh, 0]
        title = mesh.split(" ")[0] + f", {one['triangles_in']:,}"
        times = [significant(middle(row["call"])) for row in (one, two)]
        body.append([title, *times, one["rounds"], *(significant(middle(on_gpu[name])) for name in ("call", "refine"))])
    return table(("", "1 thread", "2 threads", "rounds", "H200", "refine alone (H200)"), body, right=True)


def domains() -> str:
    """Whole calls on one thread and on a GPU, and Triangle's."""
    cores, gpu = (_domains(name) for name in DOMAINS)
    body = []
    for name, row in cores[1].items():
        on_gpu, peer = gpu[0][name], row["peer"]
        known = not peer["failure"]
        body.append(
            [DOMAIN_TITLES.get(name, name), _seconds(peer["seconds"]) if known else "over 60",
             f"{peer['triangles']:,}" if known else "-", _seconds(row["wall"]), _ratio(row["ratio"]),
             "-" if row["size"] is None else f"{row['size']:.2f}", f"{row['rounds']:,}", _seconds(on_gpu["wall"]),
             _ratio(on_gpu["ratio"])]
        )  # fmt: skip
    head = (
        "domain", "Triangle, s", "triangles", "`dmr.refine`, s", "over Triangle's time", "over its triangles", "rounds",
        "H100, s", "over Triangle's time",
    )  # fmt: skip
    return table(head, body, right=True)


def domain_phases() -> str:
    """Two threads, and the phases and outcomes of one thread."""
    found = _domains(DOMAINS[0])
    body = []
    for name, row in found[1].items():
        phases, outcomes, two = row["phases"], row["outcomes"], found[2][name]
        times = [f"{phases[phase]:.3f}" for phase in ("triangulate", "admit")]
        rounds = _seconds([sum(refinement_phases(phases).values())])
        counts = [f"{outcomes[kind]:,}" for kind in ("inserted", "lost_conflict", "encroached", "overflowed")]
        body.append(
            [DOMAIN_TITLES.get(name, name), f"{row['segments_in']:,}", _seconds(two["wall"]), _ratio(two["ratio"]),
             f"{row['triangles']:,}", *times, rounds, f"{phases['download']:.3f}", *counts]
        )  # fmt: skip
    head = (
        "domain", "segments", "2 threads, s", "over Triangle's time", "triangles", "triangulate", "admit", "rounds",
        "download", "cavities: inserted", "lost", "encroached", "overflowed",
    )  # fmt: skip
    return table(head, body, right=True)


def _domains(name: str) -> dict[int, dict[str, Record]]:
    """Records by threads and domain."""
    found: dict[int, dict[str, Record]] = {}
    for row in bench(name):
        found.setdefault(row["threads"], {})[row["domain"]] = row
    return found


def triangulations() -> str:
    """Triangulation on one thread, and Triangle's."""
    body = []
    for row in bench(TRIANGULATIONS):
        ours, theirs = (middle(row["seconds"][name]) for name in ("whole", "triangle"))
        title = f"{TRIANGULATED[row['input']]}: {row['vertices']:,} vertices, {row['segments']:,} segments"
        body.append([title, *(_seconds([seconds]) for seconds in (ours, theirs)), f"{ours / theirs:.2f}"])
    return table(("input", "`dmr.triangulate`, s", "Triangle `-p`, s", "ratio"), body, right=True)


def triangulators() -> str:
    """Triangulation by other programs: seconds, and those of this package over them."""
    rows = bench(TRIANGULATORS)
    head = ["program"]
    for row in rows:
        segments = f", {row['segments']:,} segments" if row["segments"] else ""
        head.append(f"{TRIANGULATED[row['input']]}: {row['vertices']:,}{segments}")
    body = []
    for name, title in PROGRAMS.items():
        cells = []
        for row in rows:
            seconds = row["seconds"].get(name)
            if seconds is None:
                cells.append("")
                continue
            ratio = "" if name == "whole" else f" ({_ratio(middle(row['seconds']['whole']) / middle(seconds))})"
            cells.append(_seconds(seconds) + ratio)
        body.append([title, *cells])
    return table(head, body, right=True)


def large_meshes() -> str:
    """Refinement by size on a GPU."""
    body = []
    for row in bench(LARGE):
        found = row["found"]
        taken = found["memory"]["taken"]
        body.append(
            [f"{row['triangles_in']:,}", f"{found['triangles']:,}", f"{1000 * middle(found['refine']):.1f} ms",
             f"{1000 * middle(found['wall']):.0f} ms", f"{row['refine_ns_a_triangle']:.2f}",
             f"{taken / 2**20:,.0f} MiB", f"{taken / found['memory']['points']:.0f}", found["rounds"]]
        )  # fmt: skip
    head = (
        "triangles in", "out", "refine", "whole call", "ns per triangle out", "device memory", "bytes per point",
        "rounds",
    )  # fmt: skip
    return table(head, body, right=True)


def _seconds(times: list[float]) -> str:
    """The median, with three significant digits from a second on, and two below."""
    seconds = middle(times)
    return significant(seconds, 3 if seconds >= 1 else 2)


def _ratio(value: float | None) -> str:
    """A ratio of times, in bold type above 1; "-" if Triangle did not finish."""
    if value is None:
        return "-"
    return f"**{value:.2f}**" if value > 1 else f"{value:.2f}"


TABLES: Mapping[str, Callable[[], str]] = {
    "speed": speed,
    "speed-ratios": ratios,
    "domain-means": domain_means,
    "small-meshes": small_meshes,
    "domains": domains,
    "domain-phases": domain_phases,
    "triangulations": triangulations,
    "triangulators": triangulators,
    "large-meshes": large_meshes,
}
