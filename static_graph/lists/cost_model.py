"""The cost model of the slides, which predicts the time of list ranking from the cycles of a kernel's threads.

    C(K) = N_B(K) N_w(K) N_t(K) C_t(K) / (N_C D) cycles        T(K) = C(K) / R seconds

Each multiprocessor runs N_B blocks of N_w warps with N_t threads each. The slowest thread takes C_t cycles. Each of N_C
cores has D threads in its pipeline, and R is the clock rate. All memory accesses count as uncoalesced.

On a current GPU far more threads wait for memory than its pipelines hold, and the bound is the number of memory sectors
per second. A second prediction is therefore based on the time of a random gather on the same device.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from dmr.memory import Device, DeviceArray
from static_graph.lists.generation import random_order
from static_graph.lists.methods.helman_jaja import CPU_SUBLIST, GPU_SUBLIST, gpu_sublist

UNEVEN = 4  # length of a random list's longest sublists, relative to the mean (slides, "4 log N")
COMPUTE = 4  # cycles per element, besides those for memory
SLIDES_ACCESSES = 3  # memory accesses per element: successor, local rank, rank
ACCESSES = 2  # the same here: marks overwrite the successor, and sequential reads cost next to nothing
SECTORS = 2  # memory sectors moved per element: one is read, and written back
CORES = 128  # per multiprocessor, since 2020
DEPTH = 4
PROBED = 2**22  # elements of the list on which latency is measured
GATHERED = 2**24  # elements of the gather


@dataclass(frozen=True)
class Machine:
    """Parameters of a device in the model.

    Attributes:
        multiprocessors: their number; cores: N_C, per multiprocessor; depth: D; clock: R in Hz.
        latency: cycles of an exposed memory access.
        gather: seconds per element of a random gather of 32-bit words; None if not measured.
    """

    multiprocessors: int
    cores: int
    depth: int
    clock: float
    latency: float
    gather: float | None = None


@dataclass(frozen=True)
class Prediction:
    """Prediction for one ranking. cycles: C(K); seconds: T(K); throughput: seconds by the gather, or None."""

    cycles: float
    seconds: float
    throughput: float | None


GTX_280 = Machine(multiprocessors=30, cores=8, depth=4, clock=1.3e9, latency=500)

# The slides' table: log2 of the size; blocks of 512 threads per multiprocessor; predicted and measured milliseconds.
# (The text of the slides has 0.588 for 9.588, a misread digit: half and twice the size take 4.404 and 19.958.)
SLIDES_TABLE = (
    (18, 1, 1.333, 0.773),
    (19, 2, 2.814, 1.909),
    (20, 3, 4.443, 4.404),
    (21, 7, 10.884, 9.588),
    (22, 13, 21.176, 19.958),
    (23, 25, 42.575, 40.806),
    (24, 47, 83.521, 82.542),
)
SLIDES_BLOCK = 512


def predict(size: int, machine: Machine, sublist: float | None = None) -> Prediction:
    """Predicts the time of Helman and JaJa's algorithm for a random list.

    Args:
        size: number of elements; machine: the device.
        sublist: elements per splitter (default: the method's default for long lists on a GPU).
    """
    length = float(GPU_SUBLIST) if sublist is None else sublist
    cycles = kernel_cycles(size / length / machine.multiprocessors, length, ACCESSES, machine)
    return Prediction(
        cycles=cycles,
        seconds=cycles / machine.clock,
        throughput=None if machine.gather is None else size * SECTORS * machine.gather,
    )


def kernel_cycles(threads: float, sublist: float, accesses: int, machine: Machine) -> float:
    """Returns C(K) of the traversal of the sublists.

    Args:
        threads: N_B N_w N_t, per multiprocessor; sublist: mean number of elements per thread.
        accesses: memory accesses per element; machine: the device.
    """
    slowest = UNEVEN * sublist * (COMPUTE + accesses * machine.latency)
    return threads * slowest / (machine.cores * machine.depth)


def slides_milliseconds(log_size: int, blocks: int) -> float:
    """Returns the slides' prediction for 2^log_size elements with n / log n splitters on their GPU."""
    cycles = kernel_cycles(blocks * SLIDES_BLOCK, log_size, SLIDES_ACCESSES, GTX_280)
    return 1000 * cycles / GTX_280.clock


def read_machine(device: Device) -> Machine:
    """Determines the parameters of a device, from its properties and two measurements.

    A CPU thread counts as a multiprocessor with one core at 1 GHz, and with as many accesses in flight as it has
    walkers (UNDER_WAY of `cuda_src/lists/ruling_set.cu`).
    """
    gpu = device.threads == 0
    clock = device.clock_rate if gpu else 1e9
    return Machine(
        multiprocessors=device.multiprocessors if gpu else device.threads,
        cores=CORES if gpu else 1,
        depth=DEPTH if gpu else 24,
        clock=clock,
        latency=clock * _seconds_per_step(device),
        gather=_seconds_gathered(device),
    )


def default_sublist(device: Device, size: int) -> int:
    """Default number of elements per splitter for a list of `size` elements."""
    return CPU_SUBLIST if device.threads else gpu_sublist(size, size)


def _seconds_per_step(device: Device) -> float:
    """Measures the seconds that one thread takes from an element of a random list to the next."""
    order = random_order(device, PROBED, 0)
    successors, ranks = device.empty(PROBED, np.int32), device.empty(PROBED, np.int32)
    device.launch("link_in_order", PROBED, order, PROBED, PROBED >> 10, successors)  # lists of 1,024 elements
    lengths = device.empty(1, np.int32)
    seconds = []
    for k in range(4):  # on a GPU, the first one loads the kernel
        head = device.array(order[k << 10 : (k << 10) + 1].download())
        device.synchronize()
        begun = perf_counter()
        device.launch("rank_in_sequence", 1, successors, PROBED, head, 1, ranks, None, lengths)
        device.synchronize()
        seconds.append(perf_counter() - begun)
    return min(seconds) / 2**10


def _seconds_gathered(device: Device) -> float:
    """Measures the seconds per element of a random gather of 32-bit words."""
    places = random_order(device, GATHERED, 1)
    return gather_seconds(places, device.empty(GATHERED, np.int32), device.empty(GATHERED, np.int32)) / GATHERED


def gather_seconds(places: DeviceArray, values: DeviceArray, gathered: DeviceArray, repeats: int = 5) -> float:
    """Returns the best time of gathered[i] = values[places[i]] in seconds."""
    device, best = places.device, float("inf")
    device.launch("fill_indices", values.size, values)
    for _ in range(repeats):
        device.synchronize()
        begun = perf_counter()
        device.launch("gather_uint32", places.size, values.view(np.uint32), places, gathered.view(np.uint32))
        device.synchronize()
        best = min(best, perf_counter() - begun)
    return best
