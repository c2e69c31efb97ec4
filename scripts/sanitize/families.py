"""Families of small inputs that together run every kernel, for `python -m scripts.sanitize` under compute-sanitizer.

    python -m scripts.sanitize.families FAMILY DEVICE [host-loops]     # one family, in this process
    python -m scripts.sanitize.families warm DEVICE                    # only compiles the kernels

The script prints the name of each case before it runs, so that a tool's reports appear below the case that they belong
to. Its last line is JSON: the digest of each result (null if threads race by design) and the launched kernels.

On a GPU every array is an allocation of exactly its size: in the memory pool an overrun would fall into padding, and a
read of uninitialised memory could find data of an earlier array. Grids have few blocks, so that threads and teams
iterate over their loops and reuse shared memory. With `host-loops` the host launches the kernels of recorded loops turn
by turn, whereas otherwise a CUDA graph launches itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from dmr.memory import Argument, Device, DeviceArray, Loop, Number, bound_of, open_device, warm
from scripts.sanitize import graphs as sanitizer_graphs
from scripts.sanitize import meshes as sanitizer_meshes
from scripts.sanitize.cases import Family

FAMILIES: dict[str, Family] = {**sanitizer_meshes.FAMILIES, **sanitizer_graphs.FAMILIES}
FEW_BLOCKS = 16  # blocks per grid


@contextmanager
def noted_launches() -> Iterator[set[str]]:
    """Collects the names of the kernels that any device launches within the context."""
    launched: set[str] = set()
    launch = Device.launch

    def noted(device: Device, kernel: str, count: Number, *arguments: Argument) -> None:
        if bound_of(count) > 0:
            launched.add(kernel)
        launch(device, kernel, count, *arguments)

    Device.launch = noted  # type: ignore
    try:
        yield launched
    finally:
        Device.launch = launch  # type: ignore


def run_family(name: str, device: Device, say: Callable[[str], None] | None = print) -> dict[str, str | None]:
    """Runs a family, announcing each case; returns the digests by case."""
    found = {}
    for case, run in FAMILIES[name](device):
        if say is not None:
            say(f"case: {case}")
        found[case] = run()
        device.synchronize()
    return found


def changeable(module: ModuleType, *names: str) -> None:
    """Checks that a module still has the names that this script changes.

    Raises:
        AttributeError: a name is missing.
    """
    gone = [name for name in names if not hasattr(module, name)]
    if gone:
        raise AttributeError(f"{module.__name__} no longer has {', '.join(gone)}, which families.py changes")


def allocate_exactly() -> None:
    """Makes GPUs allocate each array separately, with exactly its size."""
    from dmr.memory.cuda import pool

    changeable(pool, "LEAST_BITS", "SIZE_BITS")
    pool.LEAST_BITS, pool.SIZE_BITS = 0, 64
    allocate = pool.MemoryPool.allocate

    def anew(of: Any, *arguments: Any) -> Any:
        of.free()  # nothing is kept for reuse
        return allocate(of, *arguments)

    pool.MemoryPool.allocate = anew  # type: ignore


def compile_anew() -> None:
    """Ignores machine code that was built with the package, because it has no line numbers."""
    from dmr.memory.cuda import compiler

    changeable(compiler, "PREBUILT")
    compiler.PREBUILT = compiler.PREBUILT / "none"


class HostLoop(Loop):
    """Sequence of launches that the host repeats."""

    def __init__(self, body: Callable[[], None], stop: DeviceArray) -> None:
        self._body, self._stop = body, stop

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Repeats the sequence until it stops."""
        if meanwhile is not None:
            meanwhile()
        self._body()
        while not self._stop.download()[0]:
            self._body()


def loop_from_host() -> None:
    """Makes the host repeat loops that GPUs would repeat by themselves."""
    from dmr.memory.cuda.device import CudaDevice

    CudaDevice.loop = lambda device, body, stop: HostLoop(body, stop)  # type: ignore


def stay_small() -> None:
    """Makes GPUs launch few blocks."""
    from dmr.memory.cuda import device

    changeable(device, "MOST_BLOCKS", "BLOCKS_IN_FLIGHT")
    device.MOST_BLOCKS = FEW_BLOCKS
    begin = device.CudaDevice.__init__

    def with_one_multiprocessor(opened: Any, *arguments: Any) -> None:
        begin(opened, *arguments)
        opened.multiprocessors = 1

    device.CudaDevice.__init__ = with_one_multiprocessor  # type: ignore


def main(family: str, device: str, *loops: str) -> int:
    """Runs one family and prints its results; compiles all kernels if `family` is "warm"."""
    if device != "cpu":
        compile_anew()
        allocate_exactly()
        stay_small()
    if "host-loops" in loops:
        loop_from_host()
    if family == "warm":
        warm(device)
        return 0
    with noted_launches() as launched:
        found = run_family(family, open_device(device))
    print(json.dumps({"digests": found, "launched": sorted(launched)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
