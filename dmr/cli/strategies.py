"""The strategies of a refinement in a few words each, for `dmr refine --help`."""

from __future__ import annotations

from collections.abc import Mapping

MARKINGS = {
    "deterministic": "one stage, by atomic maximum: same bits everywhere",
    "two-stage": "by plain stores, then by atomic maximum what lost; races",
    "atomic": "two stages, both by atomic maximum: same bits everywhere",
    "three-phase": "one stage, by plain stores; races",
    "three-phase-barrier": "the same in one kernel, with barriers; races",
}

BALANCES = {
    "work-stealing": "all threads, an equal share of one list each",
    "none": "the thread that made them",
    "child-launch": "kernels launched from the device, for many cavities",
    "child-launch-per-cavity": "kernels launched from the device, for one cavity each",
}


def describe() -> str:
    """What help says below the options, in lines of up to 80 columns."""
    return "\n\n".join(
        (
            _block("markings: which cavities go ahead where some overlap", MARKINGS)
            + "\n  Those that race give valid meshes that differ from run to run.",
            _block("balances: who checks the quality of new triangles", BALANCES)
            + "\n  They change nothing but the speed. Launches from the device need a GPU.",
        )
    )


def _block(title: str, entries: Mapping[str, str]) -> str:
    width = max(map(len, entries))
    return "\n".join([title, *(f"  {name:{width}}  {text}" for name, text in entries.items())])
