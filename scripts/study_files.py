"""The study's files: the record, as JSON, and what is derived from it. Each is moved into place when it is whole."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import study_plots
import study_tables

from dmr.errors import FileError, OptionError
from dmr.io.replacing import replace_files, write_bytes

FORMAT = 1  # of the JSON; rises when a reader of the old one would go wrong
# What has to be equal in records that are joined.
COMMON = ("format", "device", "machine", "version", "commit", "min_angle")


def prepare(folder: Path) -> None:
    """Makes the folder, before anything is measured for it.

    Raises:
        FileError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"is no folder for results ({error.strerror})", folder) from None


def write(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the record, and then what is derived from it; returns the files."""
    record = {**study, "summary": study_tables.lines(study)}
    return [*_put(folder / f"{study['name']}.json", _json(record).encode()), *write_derived(study, folder)]


def write_derived(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes tables and pictures; returns the files."""
    name = study["name"]
    return [
        *_put(folder / f"{name}.csv", study_tables.to_csv(study_tables.lines(study)).encode()),
        *_put(folder / f"{name}.md", study_tables.to_markdown(study, name).encode()),
        *_put(folder / f"{name}-bars.png", study_plots.bars(study)),
        *_put(folder / f"{name}-processed.png", study_plots.processed(study)),
    ]


def read(path: Path) -> dict[str, Any]:
    """A record that was written before.

    Raises:
        FileError: no such file, or no record of this format.
    """
    try:
        study = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise FileError(f"is no JSON ({error})", path) from None
    if not isinstance(study, dict) or study.get("format") != FORMAT or not study.get("inputs"):
        raise FileError(f"is no record of the study in format {FORMAT}", path)
    return study


def joined(studies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One study with the inputs of all, which must come from one machine and one commit.

    Raises:
        OptionError: they differ in more than their inputs, or have one in common.
    """
    first = studies[0]
    for other in studies[1:]:
        for key in COMMON:
            if other[key] != first[key]:
                raise OptionError(f"records that differ cannot be joined: {key} is {first[key]} and {other[key]}")
    inputs = [given for study in studies for given in study["inputs"]]
    names = [given["input"] for given in inputs]
    if len(set(names)) < len(names):
        raise OptionError(f"records with an input in common cannot be joined: {', '.join(names)}")
    left_out = {row: reason for study in studies for row, reason in study["left_out"].items()}
    return {**first, "left_out": left_out, "inputs": sorted(inputs, key=lambda given: int(given["triangles"]))}


def _json(record: dict[str, Any]) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def _put(path: Path, data: bytes) -> list[Path]:
    return replace_files([(path, lambda descriptor: write_bytes(descriptor, data))], overwrite=True)
