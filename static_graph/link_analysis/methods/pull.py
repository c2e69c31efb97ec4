"""Method "pull": each node sums the shares of its predecessors (`cuda_src/graph/pagerank/pull`)."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, DeviceArray, Packed, constant, flagged_indices, pack, record
from static_graph.graph.device_graph import DeviceGraph
from static_graph.link_analysis.state import RankEntry, State

TILE = constant("RANK_TILE")  # nodes and edges
TEAMS_PER_PROCESSOR = constant("MEDIUM_OCCUPANCY_COOPERATIVE_TEAMS")  # resident per multiprocessor
TEAM_SUMS = constant("RANK_SUMS")
MEETING = constant("MEETING")
MOST_TEAMS = 4096  # most teams in one launch of all iterations, if they fit on the device
SHORTEST_TILE = constant("TEAM_SIZE")  # on a GPU: a barrier among more teams takes longer than the edges


class Tasks(NamedTuple):
    """The rows of a transposed graph in tiles and chunks (`cuda_src/graph/pagerank/tiles.cuh`).

    Attributes:
        packed: the tasks as a kernel argument; total: their number.
        arrays: those to which `packed` points.
    """

    packed: Packed
    total: int
    arrays: tuple[DeviceArray, ...]


def run(state: State, *, in_one_launch: bool | None = None) -> float:
    """Iterates until the end; returns the seconds of the iterations.

    Args:
        state: with the first scores.
        in_one_launch: whether to launch all iterations at once, or to repeat the launches of one. By default a GPU
            launches all at once: a barrier among its teams takes less time than a launch.
    """
    device, back = state.device, state.back()
    # One computation at a time uses the sums of the long rows, so the tasks are not shared by threads.
    tasks = cut_rows(back)
    arguments = (state.packed, back.csr, state.edge_ratios(transposed=True), tasks.packed)
    even = state.even and not state.weighted and not state.narrow
    kind = ("even_" if even else "") + ("cached_" if state.order is None else "")
    given = (state.packed, back.csr, tasks.packed) if even else arguments

    def one_iteration() -> None:
        device.launch("pull_shares", tasks.total, *arguments)
        device.launch("end_pulled_iteration", 1, state.packed, tasks.packed)

    if not (device.threads == 0 if in_one_launch is None else in_one_launch):
        return state.repeat(one_iteration)
    device.synchronize()
    begun = perf_counter()
    stopped = False
    while not stopped:  # a launch ends early, so that signals are handled
        device.launch("begin_slice", 1, state.packed)
        device.launch(f"pull_{kind}iterations", min(tasks.total, MOST_TEAMS), *given)
        stopped = bool(state.progress.download()[RankEntry.RANK_STOP])
    return perf_counter() - begun


def cut_rows(back: DeviceGraph) -> Tasks:
    """Cuts the rows of a transposed graph into tasks; those are kept with the graph, the sums of long rows are not."""
    device = back.device
    tasks, long_rows = back.derived("row tasks", lambda: _cut(back))
    long_sums, meeting = device.zeros(long_rows.size, np.uint64), device.zeros(MEETING, np.uint64)
    team_sums = device.zeros(2 * TEAM_SUMS, np.uint64)
    packed = pack(
        "RowTasks",
        list=tasks,
        count=tasks.size,
        long_rows=long_rows,
        long_sums=long_sums,
        long_count=long_rows.size,
        team_sums=team_sums,
        meeting=meeting,
    )
    return Tasks(packed, tasks.size, (long_sums, team_sums, meeting))


def _cut(back: DeviceGraph) -> tuple[DeviceArray, DeviceArray]:
    device, nodes = back.device, back.nodes
    flags = device.empty(nodes, np.int32)
    device.launch("flag_long_rows", nodes, back.csr, flags)
    long_rows, count = flagged_indices(flags)
    begins, ends = device.empty(count, np.int64), device.empty(count, np.int64)
    device.launch("find_row_ends", count, back.csr, long_rows, begins, ends)
    rows, edge_begins, edge_ends = long_rows.download(), begins.download(), ends.download()
    chunk_rows, chunk_begins = cut(edge_begins, edge_ends, TILE)
    chunks = np.zeros(chunk_rows.size, record("RowTask"))
    chunks["begin"], chunks["long_row"] = chunk_begins, chunk_rows
    chunks["edges"] = np.minimum(TILE, edge_ends[chunk_rows] - chunk_begins)
    # Positions between long rows.
    firsts = np.append(0, rows + 1 + edge_ends)
    lasts = np.append(rows + edge_begins, nodes + back.edges)
    length = _tile_length(device, int((lasts - firsts).sum()), others=chunks.size + firsts.size)
    ranges, tile_begins = cut(firsts, lasts, length)
    tile_ends = np.minimum(tile_begins + length, lasts[ranges])
    tasks = device.empty(chunks.size + ranges.size, record("RowTask"))
    tasks[: chunks.size].upload(chunks)
    tiles = tasks[chunks.size :]
    device.launch("cut_rows", ranges.size, back.csr, device.array(tile_begins), device.array(tile_ends), tiles)
    return tasks, long_rows


def _tile_length(device: Device, positions: int, *, others: int) -> int:
    """Returns the length of tiles: on a GPU, its teams have equally many tasks.

    Args:
        device: the device.
        positions: those to cut.
        others: the most other tasks: chunks, and the rest of each range of positions.
    """
    teams = TEAMS_PER_PROCESSOR * device.multiprocessors
    if teams == 0:
        return TILE
    tasks = teams * device.tiles(device.tiles(positions, TILE) + others, teams)
    return max(device.tiles(positions, tasks - others), SHORTEST_TILE)


def cut(begins: NDArray[np.int64], ends: NDArray[np.int64], most: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Cuts ranges into chunks of at most `most` indices; returns the number of each chunk's range, and its begin."""
    chunks = -(-(ends - begins) // most)  # per range
    ranges = np.repeat(np.arange(begins.size, dtype=np.int32), chunks)
    number = np.arange(ranges.size) - np.repeat(np.cumsum(chunks) - chunks, chunks)
    return ranges, begins[ranges] + most * number
