"""Draws the task stream of a refinement in tiles by a Dask cluster: which worker did what, when.

    python -m scripts.make.task_stream docs/images/task-stream.png

Dask's dashboard shows the same as the cluster works. Times differ from run to run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import dmr

ROOT = Path(__file__).resolve().parents[2]
COLOURS = {"begin": "#bbbbbb", "refine": "#4477aa", "divide": "#ee6677", "join": "#228833", "summarize": "#ccbb44"}
OTHERS = "#aa3377"  # the parts and their ghosts


def main(path: str) -> None:
    """Refines a plate by four workers, and draws their tasks."""
    from distributed import Client, LocalCluster, get_task_stream

    plate = dmr.read(ROOT / "meshes" / "plate.poly")
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
        tempfile.TemporaryDirectory() as out,
        get_task_stream(client) as stream,
    ):
        dmr.distributed.refine(plate, out, max_area=5e-5, tile_triangles=5000, executor=client, device="cpu")
    draw(stream.data, path)


def draw(tasks: list[dict[str, Any]], path: str) -> None:
    """Draws a bar for each task, by worker and function."""
    import matplotlib.pyplot as plt

    workers = sorted({task["worker"] for task in tasks})
    spans = [
        (workers.index(task["worker"]), task["key"].partition("-")[0], span["start"], span["stop"])
        for task in tasks
        for span in task["startstops"]
        if span["action"] == "compute"
    ]
    begin = min(start for *_, start, _ in spans)
    figure, axes = plt.subplots(figsize=(9, 2.4), layout="constrained")
    for row, name, start, stop in spans:
        colour = COLOURS.get(name, OTHERS)
        axes.barh(row, stop - start, left=start - begin, color=colour, edgecolor="white", linewidth=0.5)
    for name, colour in {**COLOURS, "parts": OTHERS}.items():
        axes.barh(0, 0, color=colour, label=name)
    axes.set_yticks(range(len(workers)), [f"worker {k}" for k in range(len(workers))])
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
    axes.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1])
