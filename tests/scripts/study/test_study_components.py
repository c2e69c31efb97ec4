"""The study of the graph engine, on small graphs."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import static_graph
from scripts.study.components import __main__ as study
from scripts.study.components import report
from scripts.study.components.bodies import BODIES, CASES


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the study of two small graphs, and its record."""
    folder = tmp_path_factory.mktemp("study")
    node = np.arange(40)
    static_graph.write(folder / "path.npz", static_graph.CsrGraph.from_edges(node[1:], node[:-1]))
    graphs = ["--graphs", "rmat-500", f"{folder / 'path.npz'}@39"]
    common = ["--repeats", "1", "--device", "cpu", "--threads", "1", "-o", str(folder), "--name", "small"]
    assert study.main([*graphs, *common]) == 0
    return folder, json.loads((folder / "small.json").read_text())


def test_every_body_and_case_is_measured(written):
    folder, record = written
    runs = {(given["input"], run["body"], run["strategy"], run["options"]) for given, run in report._each(record)}
    without_auto = sum(name in ("bfs", "sssp", "colours, no atomics") for name in BODIES)
    assert len(runs) == 2 * (len(BODIES) * len(CASES) - without_auto)
    lines = list(csv.DictReader(io.StringIO((folder / "small.csv").read_text())))
    assert len(lines) == len(runs) and {line["graph"] for line in lines} == {"rmat-500", "path"}
    page = (folder / "small.md").read_text()
    assert "All strategies gave the same results." in page
    path = next(given for given in record["inputs"] if given["input"] == "path")
    search = next(run for run in path["runs"] if run["body"] == "bfs")
    assert (search["rounds"], search["expanded"], search["examined"]) == (40, 40, 39)
    assert f"| path | bfs | collapse-local | 40 | {40 / np.log2(40):.1f} | {40 / 39:.2f} | 1.00 |" in page


def test_a_page_is_drawn_again_from_its_record(written):
    folder, _ = written
    page = (folder / "small.md").read_text()
    (folder / "small.md").unlink()
    assert study.main(["--redraw", str(folder / "small.json")]) == 0
    assert (folder / "small.md").read_text() == page


def test_results_that_differ_are_named(written, tmp_path):
    _, record = written
    record["inputs"][0]["runs"][-1]["sha256"] = "0"
    (tmp_path / "other.json").write_text(json.dumps(record))
    assert study.main(["--redraw", str(tmp_path / "other.json")]) == 5
    assert "RESULTS DIFFER:** rmat-500: trimming by auto" in (tmp_path / "small.md").read_text()
