"""The refinement strategies, as `dmr refine --help` lists them."""

from __future__ import annotations

from collections.abc import Mapping

from dmr.refinement.strategy_tables import BALANCES, MARKINGS, Strategy


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


def _block(title: str, strategies: Mapping[str, Strategy]) -> str:
    width = max(map(len, strategies))
    return "\n".join([title, *(f"  {name:{width}}  {entry.summary}" for name, entry in strategies.items())])
