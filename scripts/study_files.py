"""The files of studies: how they are called, written, read and moved into place; and sentences on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from dmr.errors import FileError
from dmr.io.replacing import replace_files, write_bytes


def say(*sentences: str) -> None:
    """Progress, on stderr; a line a sentence."""
    print(*(f"{sentence}\n" for sentence in sentences), sep="", end="", file=sys.stderr, flush=True)


def default_name(device: str, threads: int = 0) -> str:
    """The date and the device: "2026-11-21-h200", "2026-11-21-2-cores".

    Args:
        device: what it is called, for instance "cuda:0 (NVIDIA H200)"; threads: of a CPU, 0 on a GPU.
    """
    card = re.search(r"\((?:NVIDIA )?([^,)]*)", device)
    where = card[1] if card else device
    if threads > 0:
        where = f"{threads} core{'s' if threads != 1 else ''}"
    return f"{datetime.now(timezone.utc):%Y-%m-%d}-" + re.sub(r"[^a-z0-9]+", "-", where.lower()).strip("-")


def prepare(folder: Path) -> None:
    """Makes the folder, before anything is measured for it.

    Raises:
        FileError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"is no folder for results ({error.strerror})", folder) from None


def put(contents: Mapping[Path, bytes]) -> list[Path]:
    """Moves files into place when they are whole; returns their paths."""
    return replace_files([(path, partial(_fill, data)) for path, data in contents.items()], overwrite=True)


def _fill(data: bytes, descriptor: int) -> None:
    write_bytes(descriptor, data)


def as_json(record: Mapping[str, Any]) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def read(path: Path, form: int | str, content: str) -> dict[str, Any]:
    """A record that was written before.

    Args:
        path: of the JSON.
        form: what the record says of its format; content: under which key it must have something.

    Raises:
        FileError: no such file, or no such record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise FileError(f"is no JSON ({error})", path) from None
    if not isinstance(record, dict) or record.get("format") != form or not record.get(content):
        raise FileError(f"is not what this script writes: a record in format {form!r} with {content}", path)
    return record
