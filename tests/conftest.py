"""Fixtures shared by all tests, above all the devices that they run on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dmr.memory import Device, open_device
from tests.support.devices import gpu_absence
from tests.support.paths import ROOT


@pytest.fixture(scope="session")
def gpu() -> Device:
    """The GPU; skips the test if none works. Mark such a test `gpu`."""
    if gpu_absence() is not None:
        pytest.skip(f"no usable GPU: {gpu_absence()}")
    return open_device("cuda")


@pytest.fixture(
    scope="session",
    params=[
        pytest.param({"device": "cpu", "threads": 1}, id="cpu-1"),
        pytest.param({"device": "cpu", "threads": 3}, id="cpu-3"),
        pytest.param({"device": "cuda", "threads": None}, id="cuda", marks=pytest.mark.gpu),
    ],
)
def device_options(request: pytest.FixtureRequest) -> dict[str, str | int | None]:
    """Each device in turn, as the keywords `device` and `threads` of `dmr.refine`."""
    if request.param["device"] == "cuda":
        request.getfixturevalue("gpu")
    return dict(request.param)


@pytest.fixture(scope="session")
def device(device_options: dict[str, str | int | None]) -> Device:
    """Each device in turn, opened: one CPU thread, three CPU threads, the GPU. Tests share its launch counts."""
    return open_device(device_options["device"], device_options["threads"])


@pytest.fixture(scope="session")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips a test if VTK is missing or cannot draw. Tries in another process, because VTK crashes without OpenGL."""
    pytest.importorskip("pyvista")
    program = "import sys, dmr; dmr.view(dmr.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), screenshot=sys.argv[1])"
    picture = tmp_path_factory.mktemp("drawing") / "a.png"
    done = subprocess.run([sys.executable, "-c", program, picture], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("VTK cannot draw here")
