"""Reads, writes and joins the study's JSON records, and writes the tables and pictures derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dmr.errors import OptionError
from scripts.study import files as study_files
from scripts.study.refinement import plots as study_plots
from scripts.study.refinement import tables as study_tables
from scripts.study.refinement.rows import ROWS

FORMAT = 1  # version of the JSON format; increased by incompatible changes
# Fields that must be equal in records to be joined.
COMMON = ("format", "device", "machine", "version", "commit", "min_angle")


def write(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the record, and then the derived files; returns all files."""
    record = {**study, "summary": study_tables.lines(study)}
    path = folder / f"{study['name']}.json"
    return [*study_files.put({path: study_files.as_json(record).encode()}), *write_derived(study, folder)]


def write_derived(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes tables and pictures; returns the files."""
    name = study["name"]
    contents = {
        ".csv": study_tables.to_csv(study_tables.lines(study)).encode(),
        ".md": study_tables.to_markdown(study, name).encode(),
        "-bars.png": study_plots.bars(study),
        "-processed.png": study_plots.processed(study),
    }
    return study_files.put({folder / f"{name}{end}": content for end, content in contents.items()})


def read(path: Path) -> dict[str, Any]:
    """Reads a record.

    Raises:
        FileError: no such file, or not a record of this format.
    """
    return study_files.read(path, FORMAT, "inputs")


def joined(studies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Joins the inputs of several studies of one machine and one commit, and their rows on the same input.

    Raises:
        OptionError: the studies differ in more than their inputs and rows, or share a row on an input.
    """
    first = studies[0]
    for other in studies[1:]:
        for key in COMMON:
            if other[key] != first[key]:
                raise OptionError(f"records that differ cannot be joined: {key} is {first[key]} and {other[key]}")
    inputs: dict[str, dict[str, Any]] = {}
    for given in (given for study in studies for given in study["inputs"]):
        before = inputs.get(given["input"])
        inputs[given["input"]] = given if before is None else _with_rows(before, given)
    left_out = {row: reason for study in studies for row, reason in study["left_out"].items()}
    by_size = sorted(inputs.values(), key=lambda given: int(given["triangles"]))
    return {**first, "left_out": left_out, "inputs": by_size}


def _with_rows(given: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """An input with the rows of two records, in the order of the study."""
    order = [row.name for row in ROWS]
    rows = [*given["rows"], *other["rows"]]
    names = [row["row"] for row in rows]
    if len(set(names)) < len(names):
        raise OptionError(f"records with a row in common cannot be joined: {given['input']}, {', '.join(names)}")
    command = "\n".join(dict.fromkeys([given["command"], other["command"]]))
    return {**given, "command": command, "rows": sorted(rows, key=lambda row: order.index(row["row"]))}
