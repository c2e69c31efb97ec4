"""List ranking by any method, and root finding in forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, chosen, shortened
from dmr.common.available import require_memory
from dmr.common.clock import Clock
from dmr.common.text import counted, option
from dmr.memory import Device, DeviceArray, open_device, scan
from static_graph.common.arrays import as_array, as_whole, described
from static_graph.common.memory_estimates import heads_bytes, ranking_bytes, roots_bytes
from static_graph.common.results import Result, checked_count, checked_mapping, checked_name
from static_graph.errors import DmrError, GraphError, InternalError, OptionError, WrongTypeError
from static_graph.lists.checks import as_indices, check_cycles, cycle_through, find_heads, out_of_range
from static_graph.lists.gpu_modules import ROOTS, ranking_modules
from static_graph.lists.methods.jumping import JUMPS, jump_until_done
from static_graph.lists.methods.ranked import Ranked
from static_graph.lists.methods.table import METHODS, NAMES

SEQUENTIAL_UP_TO = 2**16  # elements: one CPU thread ranks a cached list before other methods have started


@dataclass(frozen=True, eq=False)
class Ranking(Result):
    """Ranks, and statistics of the run. The arrays are read-only, also in copies and pickles.

    Attributes:
        ranks: (n,) int32: the number of elements before each one on its list.
        sums: (n,) int64: the sum of the values before each element on its list; None if no values were given.
        heads: (k,) int32: the first elements of the lists, in order; lengths: (k,) int32: the lengths of the lists.
        method: the method; device: the device; threads: CPU threads, 0 on a GPU.
        seconds: per phase: "upload", "check" (validation, and search for the heads), "rank", "sums", "download".
        figures: method-specific numbers: "rounds", "levels", "splitters", ...
    """

    ranks: NDArray[np.int32]
    sums: NDArray[np.int64] | None
    heads: NDArray[np.int32]
    lengths: NDArray[np.int32]
    method: str
    device: str
    threads: int
    seconds: dict[str, float]
    figures: dict[str, int]

    def __post_init__(self) -> None:
        ranks, heads, lengths = (
            as_whole(getattr(self, name), name).astype(np.int32) for name in ("ranks", "heads", "lengths")
        )
        if len(heads) != len(lengths):
            raise GraphError(f"{len(heads)} heads, but {len(lengths)} lengths: each list has one of both")
        self._set(
            ranks=ranks,
            sums=None if self.sums is None else as_values(self.sums, len(ranks), "element"),
            heads=heads,
            lengths=lengths,
            method=checked_name("method", self.method),
            device=checked_name("device", self.device),
            threads=checked_count("threads", self.threads),
            seconds=checked_mapping("seconds", self.seconds),
            figures=checked_mapping("figures", self.figures),
        )


if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class Options(TypedDict, total=False):
        """Keywords of `rank` that do not change the type of its result."""

        method: str
        packing: int | None
        splitters: str | int | None
        spacing: str | None
        finish: str | None
        finish_size: int | None
        device: str
        threads: int | None


@overload
def rank(successors: ArrayLike, *, values: None = None, **options: Unpack[Options]) -> NDArray[np.int32]: ...


@overload
def rank(
    successors: ArrayLike, *, values: ArrayLike, **options: Unpack[Options]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...


@checks_keywords
def rank(
    successors: ArrayLike,
    *,
    values: ArrayLike | None = None,
    method: str = "auto",
    packing: int | None = None,
    splitters: str | int | None = None,
    spacing: str | None = None,
    finish: str | None = None,
    finish_size: int | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Ranks linked lists: counts the elements before each one on its list. All methods give the same result.

    Args:
        successors: (n,) integers: the element after each one; the last element of a list has -1, or itself. Any number
            of lists may share the array.
        values: (n,) integers to be summed along the lists.
        method: "auto" (by size and device), or a method of the slides (Rehman: List ranking on GPUs): "wyllie" (pointer
            jumping), "lock-step" (one jump per launch), "on-demand" (loads only if needed), "helman-jaja" (recursive
            sparse ruling set), "sequential" (one CPU thread).
        packing: for "wyllie": rank and successor in 64 bits, or in 32 for fewer than 2^16 elements.
        splitters: for "helman-jaja": "n / log n", "n / (2 log^2 n)", or their number.
        spacing: for "helman-jaja": splitters at "random" or "equal" intervals.
        finish: for "helman-jaja": what ranks the last list: "one" thread, the "cpu", or "wyllie".
        finish_size: for "helman-jaja": the largest length of the last list, not counting the heads.
        device: "auto" (a GPU if one works, otherwise the CPU), "cpu", "cuda", "cuda:1", ...
        threads: CPU threads (default: all cores).

    Returns:
        (n,) int32 ranks; the first element of a list has rank 0. With values, a pair of the ranks and the (n,) int64
        sums of the values before each element on its list.

    Raises:
        GraphError: the array does not describe lists: a successor out of range, two predecessors, or a cycle; the error
            names the element. Or the values do not fit.
        OptionError: an option is invalid, or the method does not have it.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    options = {
        "packing": packing, "splitters": splitters, "spacing": spacing, "finish": finish, "finish_size": finish_size
    }  # fmt: skip
    found = _rank(successors, values, method, options, device, threads)
    ranks: NDArray[np.int32] = found["ranks"]  # owned by the caller, hence writable
    return ranks if found["sums"] is None else (ranks, found["sums"])


@checks_keywords
def rank_in_detail(
    successors: ArrayLike,
    *,
    values: ArrayLike | None = None,
    method: str = "auto",
    options: dict[str, Any] | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Ranking:
    """Ranks linked lists as `rank` does; also returns statistics.

    Args:
        successors, values, method, device, threads: as for `rank`.
        options: options of the method; None counts as not given.

    Raises:
        GraphError, OptionError, DeviceUnavailableError, OutOfMemoryError: as for `rank`.
    """
    return Ranking.found(**_rank(successors, values, method, options, device, threads))


def _rank(
    successors: ArrayLike,
    values: ArrayLike | None,
    method: str,
    options: dict[str, Any] | None,
    device: str,
    threads: int | None,
) -> dict[str, Any]:
    """Checks the arguments, ranks, and returns the attributes of a `Ranking`."""
    given = as_indices(successors, "element", "successor")
    summed = None if values is None else as_values(values, len(given), "element")
    if not isinstance(options, Mapping | None):
        raise WrongTypeError(f"options = {shortened(options)}: they must be a dictionary of names and values")
    wanted = {name: value for name, value in ({} if options is None else options).items() if value is not None}
    where, method = _choose(method, wanted, len(given), device, threads)
    where.prepare(*ranking_modules(method, values=summed is not None))
    with where.lock, where.current:
        return _rank_on(where, given, summed, method, wanted)


def _rank_on(
    where: Device, given: NDArray[np.int32], summed: NDArray[np.int64] | None, method: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Ranks on a device, as `_rank`; checks the lists (the other arguments are checked already)."""
    clock = Clock(where.synchronize)
    if where.threads:
        what = f"the ranking of {counted(len(given), 'element')}"
        require_memory(ranking_bytes(len(given), method, summed is not None), what)
    on_device = where.array(given)
    summands = None if summed is None else where.array(summed)
    clock.lap("upload")
    heads = find_heads(on_device, given) if len(given) else where.empty(0, np.int32)
    if where.threads:
        require_memory(heads_bytes(heads.size), f"the ranking of {counted(heads.size, 'list')}")
    clock.lap("check")
    lists = None if summands is None else where.empty(len(given), np.int32)
    ranked = rank_on_device(on_device, heads, lists, method=method, **options)
    clock.lap("rank")
    begins = check_cycles(ranked.lengths, heads, given)
    clock.lap("check")
    sums = None
    if summands is not None and lists is not None:
        sums = _sum_along(summands, ranked.ranks, lists, begins)
        clock.lap("sums")
    found = [part.download() for part in (ranked.ranks, heads, ranked.lengths)]
    found_sums = None if sums is None else sums.download()
    clock.lap("download")
    return {
        "ranks": found[0],
        "sums": found_sums,
        "heads": found[1],
        "lengths": found[2],
        "method": method,
        "device": where.name,
        "threads": where.threads,
        "seconds": clock.seconds,
        "figures": ranked.figures,
    }


def rank_on_device(
    successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None = None, *, method: str, **options: Any
) -> Ranked:
    """Ranks lists that are on a device and known to be valid; may overwrite the successors (`Ranked`)."""
    if successors.size == 0:
        return Ranked(successors, heads)
    run = import_module(f"static_graph.lists.methods.{METHODS[method].module}").run
    ranked: Ranked = run(successors, heads, lists, **options)
    return ranked


def _choose(method: str, options: dict[str, Any], size: int, device: str, threads: int | None) -> tuple[Device, str]:
    """Opens the device, and resolves the method "auto".

    Raises:
        OptionError: there is no such method, or it does not have an option.
        DeviceUnavailableError: there is no such device.
    """
    chosen("method", method, NAMES)
    having = frozenset() if method == "auto" else METHODS[method].options
    for name in options:
        if name not in having:
            those = f", which has {' and '.join(sorted(having))}" if having else ", which has none"
            raise OptionError(
                f"{option(name) if isinstance(name, str) else shortened(name)} is not an option of "
                f"{option('method')} = {method!r}{those}"
            )
    if method == "sequential":
        if isinstance(device, str) and device.startswith("cuda"):
            raise OptionError(f"{option('method')} = 'sequential' runs on the CPU: leave the device out")
        return open_device("cpu", threads), method
    where = open_device(device, threads)
    if method == "auto" and device == "auto" and size <= SEQUENTIAL_UP_TO:
        return open_device("cpu", threads), "sequential"
    return where, fastest(where, size) if method == "auto" else method


def fastest(device: Device, size: int) -> str:
    """Returns the fastest method for `size` elements."""
    return "sequential" if device.threads and size <= SEQUENTIAL_UP_TO else "helman-jaja"


@checks_keywords
def find_roots(parents: ArrayLike, *, device: str = "auto", threads: int | None = None) -> NDArray[np.int32]:
    """Finds the root of each node's tree by pointer jumping (slides, Algorithm 2).

    Args:
        parents: (n,) integers: the parent of each node; a root has -1, or itself.
        device, threads: as for `rank`.

    Returns:
        (n,) int32.

    Raises:
        GraphError: a parent out of range, or a cycle; the error names the node.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    given = as_indices(parents, "node", "parent").copy()  # kernels trust it; the caller's may change
    check_range(given)
    where, count = open_device(device, threads), len(given)
    if where.threads:
        require_memory(roots_bytes(count), f"a search for the roots of {counted(count, 'node')}")
    if not count:
        return given
    where.prepare(*ROOTS)
    with where.lock, where.current:
        pointers = where.empty(count, np.int32)
        where.launch("point_to_parents", count, where.array(given), pointers)
        jump_until_done(
            where, count, JUMPS + 1, lambda unfinished: where.launch("jump_to_roots", count, pointers, unfinished)
        )
        where.launch("read_roots", count, pointers)
        roots = pointers.download()
    if (roots < 0).any():
        raise cycle_below(int(np.argmax(roots < 0)), given)
    return roots


def cycle_below(index: int, parents: NDArray[np.int32]) -> DmrError:
    """Returns the error for the cycle among the ancestors of `index`; it names the smallest node of the cycle."""
    at = index
    for _ in range(len(parents)):  # afterwards it is on the cycle
        above = int(parents[at])
        if above in (-1, at):
            return InternalError(f"node {index} has the root {at}, which was not found")
        at = above
    least, step = at, int(parents[at])
    while step != at:
        least, step = min(least, step), int(parents[step])
    return cycle_through(least, parents, "node")


def check_range(parents: NDArray[np.int32]) -> None:
    """Raises GraphError for a parent that is out of range."""
    bad = (parents < -1) | (parents >= len(parents))
    if bad.any():
        raise out_of_range(int(np.argmax(bad)), parents, "node", "parent")


def as_values(values: ArrayLike, size: int, of: str) -> NDArray[np.int64]:
    """Converts values to (size,) int64 whose sums fit 64 bits; messages call an element `of`.

    Raises:
        GraphError: a wrong shape or dtype, or values that are too large.
    """
    array = as_array(values, "values")
    if array.shape != (size,) or (size and array.dtype.kind not in "iub"):
        raise GraphError(f"values are one whole number for each {of}, {size} in all, not {described(array)}")
    if size and max(abs(int(array.max())), abs(int(array.min()))) * size >= 2**63 and _magnitude(array) >= 2**63:
        raise GraphError("the sums of such large values may not fit 64 bits")
    return array.astype(np.int64)


def _magnitude(values: NDArray[Any]) -> int:
    """Returns the exact sum of the absolute values of at most 2^31 - 1 values, by 32-bit halves."""
    positive, negative = (np.where(side, values, 0).astype(np.uint64) for side in (values > 0, values < 0))
    whole = positive + (~negative + np.uint64(1))
    return (int((whole >> np.uint64(32)).sum()) << 32) + int((whole & np.uint64(2**32 - 1)).sum())


def _sum_along(values: DeviceArray, ranks: DeviceArray, lists: DeviceArray, begins: DeviceArray) -> DeviceArray:
    """Returns the sum of the values before each element on its list (`cuda_src/lists/sums.cu`)."""
    device, size = values.device, values.size
    ordered, sums = device.empty(size, np.int64), device.empty(size, np.int64)
    device.launch("order_values", size, values, ranks, lists, begins, ordered)
    device.launch("fetch_sums", size, scan(ordered), ranks, lists, begins, sums)
    return sums
