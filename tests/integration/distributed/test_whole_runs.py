"""Refinements in tiles by every engine: the same bits, whatever is killed; resumed runs; ensembles."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmr
from dmr.cli import main
from dmr.cli.parsing.program import build_parser
from dmr.cli.parts.refine import ONE_DEVICE
from dmr.distributed import pipeline
from dmr.distributed.jobs.folder import ARRAYS
from dmr.distributed.jobs.job_folder import TASKS
from dmr.distributed.jobs.task import Task
from dmr.distributed.pipeline import OPTIONS as OPTIONS_IN_TILES
from dmr.errors import ExistingResultError, InvalidMeshError, OptionError, WrongTypeError
from dmr.io.part_names import MANIFEST
from tests.support.distributed.engines import mpi_command
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

PLATE = ROOT / "meshes" / "plate.poly"
OPTIONS: dict[str, Any] = {"max_area": 5e-5, "tile_triangles": 5000, "device": "cpu"}
WORDS = ["refine", str(PLATE), "-a", "5e-5", "--tiles", "5e3", "--device", "cpu"]


def digest(folder: Path) -> str:
    """Returns a digest of the names and bytes of the files in a folder."""
    state = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        state.update(path.name.encode())
        state.update(path.read_bytes())
    return state.hexdigest()


@pytest.fixture(scope="module")
def plate() -> dmr.Pslg:
    return dmr.read(PLATE)


@pytest.fixture
def out() -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of small files take their time to reach a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def expected(plate, tmp_path_factory) -> str:
    """The digest of the result in this process, on one thread."""
    out = tmp_path_factory.mktemp("expected") / "out"
    parts = dmr.distributed.refine(plate, out, threads=1, **OPTIONS)
    assert parts.counts["triangles"] > 50_000
    assert parts.counts["parts"] > 8
    assert parts.manifest["complete"]
    assert dmr.validate(parts.gather(), input=plate, min_angle=30, max_area=5e-5).ok
    return digest(out)


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_processes_gives_the_same_bits(workers, plate, expected, out):
    dmr.distributed.refine(plate, out, workers=workers, **OPTIONS)
    assert digest(out) == expected


def test_threads_of_an_executor_give_the_same_bits(plate, expected, out):
    with ThreadPoolExecutor(2) as executor:
        dmr.distributed.refine(plate, out, executor=executor, **OPTIONS)
    assert digest(out) == expected


def test_dask_gives_the_same_bits_also_if_a_worker_is_killed(plate, expected, out, cluster):
    """Four processes, of which the first is killed while it works."""
    client, kill_first = cluster
    with killing(out, kill_first):
        dmr.distributed.refine(plate, out, executor=client, **OPTIONS)
    assert digest(out) == expected
    assert dmr.distributed.validate(out, input=plate, min_angle=30, max_area=5e-5, executor=client).ok


def test_mpi_gives_the_same_bits(expected, out):
    words = [*WORDS, "-o", str(out / "out"), "--mpi", "--json"]
    ended = subprocess.run(mpi_command(5, "-m", "dmr", *words), cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["complete"]
    assert digest(out / "out") == expected


def test_a_killed_worker_changes_nothing(plate, expected, out):
    def kill_one() -> None:
        os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    with killing(out, kill_one):
        dmr.distributed.refine(plate, out, workers=2, **OPTIONS)
    assert digest(out) == expected


def test_a_killed_coordinator_resumes_and_makes_no_task_again(plate, expected, out, monkeypatch):
    command = [sys.executable, "-m", "dmr", *WORDS, "-o", str(out), "--workers", "2"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as coordinator:
        wait_for(lambda: len(refined(out)) >= 3)
        coordinator.send_signal(signal.SIGKILL)
    done = {path.name for path in (out / TASKS).iterdir() if not path.name.startswith(".")}
    assert not (out / MANIFEST).exists()
    run: list[str] = []
    call = Task.call
    monkeypatch.setattr(Task, "call", lambda task, *rest: (run.append(task.name), call(task, *rest))[1])
    dmr.distributed.refine(plate, out, **OPTIONS)
    assert run and not done & set(run)
    assert len(run) == len(set(run))
    assert digest(out) == expected


def test_a_run_that_ends_before_its_manifest_resumes_without_what_its_parts_have_consumed(
    plate, expected, out, monkeypatch
):
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(pipeline, "write_manifest", raise_interrupt)
        dmr.distributed.refine(plate, out, **OPTIONS)
    assert not all((path / ARRAYS).exists() for path in refined(out))
    dmr.distributed.refine(plate, out, **OPTIONS)
    assert digest(out) == expected


def raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_one_tile_gives_the_bits_of_a_plain_run(plate, out):
    parts = dmr.distributed.refine(plate, out, max_area=1e-3, tile_triangles=10**6, device="cpu")
    plain = dmr.refine(plate, max_area=1e-3, device="cpu").mesh
    found = parts.gather()
    for name in ("vertices", "triangles", "segments", "segment_markers"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))


def test_a_number_of_triangles_may_be_a_float_without_fraction(tmp_path):
    """Such as 10e6, which the command line takes, too."""
    square = dmr.domains.rectangle(1, 1)
    options: dict[str, Any] = {"max_area": 1e-3, "device": "cpu"}
    parts = dmr.distributed.refine(square, tmp_path / "float", tile_triangles=5e2, **options)
    whole = dmr.distributed.refine(square, tmp_path / "whole", tile_triangles=500, **options)
    assert parts.manifest["job"] == whole.manifest["job"]
    assert digest(tmp_path / "float") == digest(tmp_path / "whole")


def test_what_cannot_be_is_refused_before_a_folder_is_made(plate, out):
    refine = partial(dmr.distributed.refine, plate, out / "out", tile_triangles=5000)
    for options, error, message in (
        ({"max_steiner": 5}, OptionError, "max_steiner cannot be combined with tiles: each tile has its own limit"),
        ({"progress": print}, OptionError, "progress cannot be combined with tiles"),
        ({"optimize": True}, OptionError, "optimize cannot be combined with tiles"),
        ({"marking": "atomic"}, OptionError, "marking cannot be combined with tiles"),
        ({"mim_angle": 20}, OptionError, "there is no option 'mim_angle'"),
        ({"min_angle": 70}, OptionError, "min_angle must be"),
        ({"workers": 0}, OptionError, "workers must be at least 1, not 0"),
        ({"workers": 2, "executor": ThreadPoolExecutor(1)}, OptionError, "executor cannot be combined with workers"),
        ({"executor": "dask"}, WrongTypeError, "executor must be an executor of concurrent.futures"),
        ({"tile_triangles": 0}, OptionError, "tile_triangles must be at least 1, not 0"),
        ({"tile_triangles": 1.5}, WrongTypeError, "tile_triangles must be a whole number"),
        ({"threads": 0}, OptionError, "threads must be"),
    ):
        with pytest.raises(error, match=message):
            refine(**options)
    assert list(out.iterdir()) == []


def test_a_result_is_replaced_only_if_asked(plate, out):
    options: dict[str, Any] = {"tile_triangles": 1000, "device": "cpu"}
    dmr.distributed.refine(plate, out, max_area=1e-3, **options)
    before = digest(out)
    with pytest.raises(ExistingResultError, match="holds a finished result"):
        dmr.distributed.refine(plate, out, max_area=1e-2, **options)
    assert digest(out) == before
    parts = dmr.distributed.refine(plate, out, max_area=1e-2, overwrite=True, **options)
    listed = {each["file"] for each in parts.manifest["parts"]}
    assert {path.name for path in out.iterdir()} == {MANIFEST, *listed}


def test_the_command_tells_what_is_missing_in_a_sentence(out, capsys):
    folder = ["-o", str(out / "out")]
    for words, code, message in (
        (["--tiles", "5e3"], 2, "--tiles needs --output"),
        (["--workers", "2"], 2, "--workers needs --tiles N"),
        (["--tiles", "5e3", "--optimize", *folder], 2, "--optimize cannot be combined with --tiles: points would move"),
        (["--tiles", "5e3", "--order", "2", *folder], 2, "--order cannot be combined with --tiles: run dmr convert"),
        (["--tiles", "5e3", "--validate", *folder], 2, "--validate cannot be combined with --tiles: run dmr validate"),
        (["--tiles", "5e3", "--workers", "2", "--mpi", *folder], 2, "not allowed with"),
        (["--tiles", "5e3", "--mpi", *folder], 2, "this is not an MPI job with workers"),
        (["--tiles", "0", *folder], 2, "is not a positive whole number"),
        (["--tiles", "5e3", "-o", str(PLATE)], 1, "is a file; a mesh in tiles is written to a folder"),
        (["--tiles", "5e3", "-o", str(out / "a.vtu")], 2, "a.vtu: parts are written to a folder: name one, such as"),
    ):
        assert main(["refine", str(PLATE), *words]) == code, words
        error = capsys.readouterr().err
        assert message in error and "Traceback" not in error, words
    assert main(["convert", str(PLATE), str(out / "a.vtkhdf"), "--parts", "2"]) == 2
    assert f"dmr convert {out / 'a'}/ {out / 'a.vtkhdf'} then writes one file" in capsys.readouterr().err
    assert list(out.iterdir()) == []


def test_no_option_of_the_command_is_ignored():
    """Each is either one of a refinement in tiles, or refused."""
    (commands,) = [action for action in build_parser()._actions if isinstance(action.choices, dict)]
    given = {action.dest: action.default for action in commands.choices["refine"]._actions}
    everywhere = {"help", "quiet", "verbose", "json", "input", "output", "force", "device", "threads"}
    outlines = {"on_conflict", "convex_hull", "attribute", "area", "marker", "project", "layer"}
    sizes = {"size", "max_edge", "size_from_distance", "per_turn", "factor", "along"}
    in_tiles = {"tile_triangles", "workers", "scheduler", "mpi", *OPTIONS_IN_TILES}
    assert given.keys() - everywhere - outlines - sizes - in_tiles == ONE_DEVICE.keys()
    assert {name: given[name] for name in ONE_DEVICE} == ONE_DEVICE


def test_ensembles_by_dask(cluster):
    """Many meshes over a cluster: results and errors come back whole."""
    client, _ = cluster
    meshes = [dmr.triangulate(dmr.domains.regular_polygon(n)) for n in (3, 5, 8)]
    refine = partial(dmr.refine, max_area=0.01, device="cpu", threads=1)
    for found, mesh in zip(client.gather(client.map(refine, meshes)), meshes, strict=True):
        np.testing.assert_array_equal(found.mesh.triangles, refine(mesh).mesh.triangles)
        assert found.mesh.vertices.tobytes() == refine(mesh).mesh.vertices.tobytes()
    flat = dmr.Mesh([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]])
    with pytest.raises(InvalidMeshError, match="triangle 0") as caught:
        client.submit(refine, flat).result()
    assert caught.value.index == 0


@pytest.fixture(scope="module")
def cluster():
    """A client of a cluster of two processes, and a function that kills one of them."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        process = client.submit(os.getpid, pure=False).result()
        yield client, partial(os.kill, process, signal.SIGKILL)


class killing:
    """Calls a function when three tiles are refined, on another thread."""

    def __init__(self, out: Path, kill: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=lambda: (wait_for(lambda: len(refined(out)) >= 3), kill()))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def refined(out: Path) -> list[Path]:
    """Returns the outputs of refined tiles."""
    return list((out / TASKS).glob("refine-*"))


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits until a condition holds, at most a minute."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
