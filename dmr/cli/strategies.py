"""Short descriptions of the refinement strategies, for `dmr refine --help`."""

from __future__ import annotations

from collections.abc import Mapping

MARKINGS = {
    "deterministic": "one stage, by atomic maximum: same bits everywhere",
    "two-stage": "by plain stores, then the losers by atomic maximum; races",
    "atomic": "two stages, both by atomic maximum: same bits everywhere",
    "three-phase": "one stage, by plain stores; races",
    "three-phase-barrier": "the same in one kernel, with barriers; races",
}

BALANCES = {
    "work-stealing": "all threads, each with an equal share of one list",
    "none": "the thread that created them",
    "child-launch": "kernels launched from the device, for many cavities",
    "child-launch-per-cavity": "kernels launched from the device, for one cavity each",
}


def describe() -> str:
    """Help text below the options, in lines of up to 80 columns."""
    return "\n\n".join(
        (
            _block("markings: how conflicts of overlapping cavities are resolved", MARKINGS)
            + "\n  Those that race give valid meshes that differ from run to run.",
            _block("balances: which threads check the quality of new triangles", BALANCES)
            + "\n  They change only the speed. Launches from the device need a GPU.",
        )
    )


def _block(title: str, entries: Mapping[str, str]) -> str:
    width = max(map(len, entries))
    return "\n".join([title, *(f"  {name:{width}}  {text}" for name, text in entries.items())])
