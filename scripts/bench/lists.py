"""Times list ranking on random lists, and a random gather and the sequential pass in the same run.

    python -m scripts.bench.lists --sizes 16777216 --threads 2
    python -m scripts.bench.lists --sizes 1e6 67108864 --device cuda --methods helman-jaja wyllie
    python -m scripts.bench.lists --sizes 67108864 --device cuda --splitters 1e6 2e6 4e6 --json results.jsonl

The list and its heads are on the device beforehand. The table has the best times in milliseconds:

    gather      gathered[i] = values[places[i]], 32-bit words, places in random order
    check       checks that the array is a set of lists, and finds their heads
    rank        the ranking itself, without check and transfers
    /gather     rank over gather
    x seq.      the sequential pass on one host thread over rank

If ranks differ from those of the sequential pass, stderr names the method and the exit code is 5. With --no-sequential
the reference is the first method.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmr.memory import open_device
from scripts.lib.list_measuring import MeasuredList, gathered
from scripts.lib.measuring import append_record, benchmark_parser, circumstances, positive, where
from static_graph import generate_list
from static_graph.lists.kinds import KINDS

METHODS = ("wyllie", "lock-step", "on-demand", "helman-jaja")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code."""
    options = parser().parse_args(arguments)
    device = open_device(options.device, options.threads)
    print(f"{where(device.description, device.threads)}; milliseconds")
    print(f"{'elements':>12} {'method':>24} {'gather':>9} {'check':>9} {'rank':>9} {'/gather':>8} {'x seq.':>8}")
    same = True
    for size in options.sizes:
        gather = gathered(device, size, options.repeats)
        given = MeasuredList(
            device, generate_list(options.kind, size, device=options.device, threads=options.threads), options.repeats
        )
        sequential = given.in_sequence if options.sequential else None
        expected = None if sequential is None else sequential.ranks
        for method, own in cases(options):
            found = given.ranked(method, own)
            expected = found.ranks if expected is None else expected
            agrees = bool(np.array_equal(found.ranks, expected))
            same &= agrees
            name = " ".join([method, *map(str, own.values())])
            if not agrees:
                print(f"bench_lists: {name}: other ranks for {size:,} elements", file=sys.stderr)
            ratio = f"{sequential.best / found.best:8.1f}" if sequential is not None else f"{'-':>8}"
            print(
                f"{size:12,} {name:>24} {1e3 * gather:9.3f} {1e3 * min(given.check):9.3f} {1e3 * found.best:9.3f} "
                f"{found.best / gather:8.2f} {ratio}",
                flush=True,
            )
            if options.json is not None:
                record: dict[str, Any] = {
                    **circumstances(device.threads == 0, options.commit),
                    "device": device.description,
                    "threads": device.threads,
                    "kind": options.kind,
                    "elements": size,
                    "method": method,
                    "options": own,
                    "gather": gather,
                    "check": given.check,
                    "rank": found.seconds,
                    "sequential": None if sequential is None else sequential.best,
                    "figures": found.figures,
                    "same": agrees,
                }
                append_record(options.json, record)
    return 0 if same else 5


def cases(options: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    """Lists the methods with their options."""
    found: list[tuple[str, dict[str, Any]]] = [(method, {}) for method in options.methods]
    return found + [("helman-jaja", {"splitters": splitters}) for splitters in options.splitters]


def whole(text: str) -> int:
    """Parses an integer, which may be written as 1e6."""
    return positive(str(int(float(text))))


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "case")
    add = found.add_argument
    add("--sizes", nargs="+", type=whole, default=[2**20, 2**24], metavar="N", help="elements (default: 2^20 and 2^24)")
    add("--kind", choices=KINDS, default="random", metavar="KIND", help=f"{', '.join(KINDS)} (default: random)")
    add("--methods", nargs="+", choices=METHODS, default=["helman-jaja"], metavar="M", help=", ".join(METHODS))
    add("--splitters", nargs="+", type=whole, default=[], metavar="N", help="splitters of helman-jaja, one case each")
    add("--device", default="auto", metavar="NAME", help="auto (a GPU where one works), cpu, cuda, cuda:1, ...")
    add("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")
    add("--repeats", type=positive, default=5, metavar="N", help="timed turns of each case (default: 5)")
    add("--no-sequential", dest="sequential", action="store_false", help="leave out the sequential pass")
    return found


if __name__ == "__main__":
    sys.exit(main())
