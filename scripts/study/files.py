"""Names, reads and writes the files of studies, and prints progress on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from dmr.common.files.replacing import replace_files, write_bytes
from dmr.errors import FileError


def say(*sentences: str) -> None:
    """Prints progress on stderr, one line per sentence."""
    print(*(f"{sentence}\n" for sentence in sentences), sep="", end="", file=sys.stderr, flush=True)


def default_name(device: str, threads: int = 0) -> str:
    """Default name from the date and the device: "2026-11-21-h200", "2026-11-21-2-cores".

    Args:
        device: its description, such as "cuda:0 (NVIDIA H200)"; threads: CPU threads, 0 on a GPU.
    """
    card = re.search(r"\((?:NVIDIA )?([^,)]*)", device)
    where = card[1] if card else device
    if threads > 0:
        where = f"{threads} core{'s' if threads != 1 else ''}"
    return f"{datetime.now(timezone.utc):%Y-%m-%d}-" + re.sub(r"[^a-z0-9]+", "-", where.lower()).strip("-")


def prepare(folder: Path) -> None:
    """Makes the folder for results, before the measurements.

    Raises:
        FileError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be used as a folder for results ({error.strerror})", folder) from None


def put(contents: Mapping[Path, bytes]) -> list[Path]:
    """Writes files and moves them into place when complete; returns their paths."""
    return replace_files([(path, partial(_fill, data)) for path, data in contents.items()], overwrite=True)


def _fill(data: bytes, descriptor: int) -> None:
    write_bytes(descriptor, data)


def as_json(record: Mapping[str, Any]) -> str:
    """Indented JSON, with lists of plain values on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def read(path: Path, form: int | str, content: str) -> dict[str, Any]:
    """Reads a record.

    Args:
        path: path of the JSON file.
        form: required format version; content: key that must hold something.

    Raises:
        FileError: no such file, or not such a record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise FileError(f"is not JSON ({error})", path) from None
    if not isinstance(record, dict) or record.get("format") != form or not record.get(content):
        raise FileError(f"is not what this script writes: a record in format {form!r} with {content}", path)
    return record
