"""Reads the records that the pages quote, and formats their figures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path(__file__).resolve().parents[3] / "docs" / "results"
Record = dict[str, Any]


def find(name: str) -> Path:
    """The file of this name in a folder of docs/results.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: two folders have a file of this name.
    """
    paths = sorted(RESULTS.glob(f"**/{name}"))
    if not paths:
        raise FileNotFoundError(f"no folder of {RESULTS} has a file {name}")
    if len(paths) > 1:
        raise ValueError(f"{name} is in {len(paths)} folders: {', '.join(str(path.parent) for path in paths)}")
    return paths[0]


@cache
def study(name: str) -> Record:
    """Reads the record of a study, by the name of its files."""
    found: Record = json.loads(find(f"{name}.json").read_text(encoding="utf-8"))
    return found


@cache
def bench(name: str) -> tuple[Record, ...]:
    """Reads the records of a benchmark, one per line, by the name of the file."""
    lines = find(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


def tables_of(
    prefix: str, record: Callable[[], Record], makers: Mapping[str, Callable[[Record], str]]
) -> dict[str, Callable[[], str]]:
    """Functions without arguments that make the tables of a record, by their names with a prefix."""
    return {f"{prefix}-{name}": partial(lambda make: make(record()), make) for name, make in makers.items()}


def measured(record: Record) -> str:
    """States when, where and by which version a record was measured."""
    machine = record["machine"]
    tools = [f"driver {machine['driver']}"] if machine.get("driver") else []
    date = str(record.get("date") or record["name"])[:10]
    where = f"{machine['processor']}, {machine['cores']} cores"
    changed = "+" * record["commit"].endswith("+")  # measured with further changes
    return ", ".join([date, f"commit {record['commit'][:7]}{changed}", *tools, machine["compiler"], where])


def significant(value: float, digits: int = 2) -> str:
    """A positive number with the given number of significant digits, and all digits before the point."""
    decimals = max(0, digits - 1 - math.floor(math.log10(value)))
    return f"{value:,.{decimals}f}"


def middle(values: list[float]) -> float:
    """The median."""
    return float(median(values))
