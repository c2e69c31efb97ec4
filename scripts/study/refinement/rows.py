"""Rows of the study in the order of the thesis' table 6.3: combinations of marking, balance and loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dmr.errors import OptionError
from dmr.memory import Device
from dmr.refinement.options import RefineOptions


@dataclass(frozen=True)
class Row:
    """One strategy: its short name, its title in tables and pictures, and the options of `dmr.refine`.

    `explanation`: a one-line description, for the help text.
    """

    name: str
    title: str
    explanation: str
    marking: str
    balance: str
    loop: str = "host"


BASE = "base"  # reference row of improvements
LITERAL = "base-literal"  # the second one: the base as printed
HOST_DRIVEN = "deterministic-host"
DEFAULT = "deterministic"  # reference row of sizes
ROWS = (
    Row(
        BASE,
        "base (3-phase, one stage)",
        "three-phase marking in one stage (Nasre et al.); a thread checks all triangles of a cavity",
        "three-phase",
        "none",
    ),
    Row(
        LITERAL,
        "base as printed, without back-off",
        "the same, but a cavity that has lost still overwrites lower marks, as in Algorithm 2",
        "three-phase-literal",
        "none",
    ),
    Row(
        "base-barrier",
        "base with a global barrier",
        "the base in one kernel, with a global barrier between the phases",
        "three-phase-barrier",
        "none",
    ),
    Row("atomic", "only atomic", "both stages of Algorithm 2 mark by atomic maximum", "atomic", "none"),
    Row("two-stage", "3-phase + atomic", "Algorithm 2: three-phase marking, then atomic", "two-stage", "none"),
    Row(
        "work-stealing",
        "+ work stealing",
        "the same; the new triangles are one list, of which each thread checks the same share",
        "two-stage",
        "work-stealing",
    ),
    Row(
        "child-launch",
        "+ child launch, one per 256 cavities",
        "the same; kernels launched from the device check them, one per 256 cavities or more (GPU)",
        "two-stage",
        "child-launch",
    ),
    Row(
        "child-launch-per-cavity",
        "+ child launch, one per cavity",
        "the same, one per cavity (GPU)",
        "two-stage",
        "child-launch-per-cavity",
    ),
    Row(
        HOST_DRIVEN,
        "deterministic, host-driven",
        "the default of dmr.refine, but the host drives the rounds (GPU)",
        "deterministic",
        "work-stealing",
    ),
    Row(
        DEFAULT,
        "deterministic (default)",
        "the default of dmr.refine: on a GPU the device drives the rounds",
        "deterministic",
        "work-stealing",
        "auto",
    ),
)


def explained() -> str:
    """Rows with their explanations, one line each, for a script's help."""
    width = max(len(row.name) for row in ROWS)
    return "\n".join(f"  {row.name:{width}}  {row.explanation}" for row in ROWS)


def chosen(names: Sequence[str] | None, device: Device) -> tuple[list[Row], dict[str, str]]:
    """Selects the rows to run on a device.

    Args:
        names: names of rows, in any order; None takes every row that can run on the device.
        device: the device.

    Returns:
        The rows in the order of `ROWS`, and the reasons for those left out, by name.

    Raises:
        OptionError: a named row cannot run on the device, or does not exist.
    """
    if names is not None:
        unknown = [name for name in names if name not in {row.name for row in ROWS}]
        if unknown:
            raise OptionError(f"there is no row {unknown[0]}: choose from {', '.join(row.name for row in ROWS)}")
    rows, left_out = [], {}
    for row in ROWS if names is None else [row for row in ROWS if row.name in names]:
        reason = _hindrance(row, device)
        if reason is None:
            rows.append(row)
        elif names is None:
            left_out[row.name] = reason
        else:
            raise OptionError(f"the row {row.name} cannot run: {reason}")
    return rows, left_out


def _hindrance(row: Row, device: Device) -> str | None:
    """Reason why a row cannot run on a device or is redundant there; None otherwise."""
    if row.name == HOST_DRIVEN and device.threads > 0:
        return "on a CPU the host drives the rounds of the default, too"
    options = RefineOptions(marking=row.marking, balance=row.balance)
    try:
        options.check_device(device.description, launches_children=device.launches_children)
    except OptionError as error:
        return str(error)
    return None
