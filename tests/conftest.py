"""Selection and distribution of the tests, and fixtures shared by all of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from dmr.memory import Device, available_threads, open_device
from tests.support.devices import gpu_absence
from tests.support.paths import ROOT

MOST_WORKERS = 8
UNLESS_NAMED = ("gpu", "large")  # markers whose tests run only where the expression of -m names them

settings.register_profile("tests", deadline=None, max_examples=40)  # other processes may hold up any example
settings.load_profile("tests")


# Hundreds of tests start Python: each process would compile the package again where the environment keeps Python from
# writing bytecode. Workers of pytest-xdist, which start after this, inherit the variables.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure() -> None:
    """Handles SIGINT, which shells ignore in background jobs: tests may send it to themselves and to children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Distributes whole folders over processes, if pytest-xdist is installed and no option says otherwise.

    Files and single tests run in this process, and so do the tests of GPUs, which share one device.
    """
    option = config.option
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    by_hand = option.numprocesses is not None or option.dist != "no" or option.usepdb or option.capture == "no"
    folders = all(Path(argument).is_dir() for argument in config.args)
    if by_hand or option.collectonly or not folders or "gpu" in _names(option.markexpr):
        return
    option.numprocesses = min(available_threads(), MOST_WORKERS)
    option.dist = "loadscope"  # a module's fixtures are made once
    option.loadscopereorder = False  # the order below


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects `gpu` and `large` unless named by -m, which replaces any -m of the settings; slow modules go first."""
    left_out = [marker for marker in UNLESS_NAMED if marker not in _names(config.option.markexpr)]
    deselected = [item for item in items if any(item.get_closest_marker(marker) for marker in left_out)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not any(item.get_closest_marker(marker) for marker in left_out)]
    if hasattr(config, "workerinput"):  # else the last module would keep one process busy for long
        slow = {item.path for item in items if _always_slow(item)}
        items.sort(key=lambda item: item.path not in slow)


def _always_slow(item: pytest.Item) -> bool:
    """Whether a test is marked `slow`, and not only one of its parameters."""
    marker, case = item.get_closest_marker("slow"), getattr(item, "callspec", None)
    return marker is not None and (case is None or all(marker is not each for each in case.marks))


def _names(expression: str) -> set[str]:
    """Names in an expression of -m."""
    return set(re.findall(r"\w+", expression))


@pytest.fixture(autouse=True)
def same_signals() -> Iterator[None]:
    """Preserves the handlers of SIGINT and SIGPIPE. Gmsh resets both, and then Ctrl-C, or a write to a process that has
    died, would end the process of the tests.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


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
        pytest.param({"device": "cpu", "threads": 3}, id="cpu-3", marks=pytest.mark.slow),  # quick: one thread
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
