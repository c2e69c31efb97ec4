"""Reads rows of an array in an uncompressed .npz file; errors name damaged files."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.errors import FileContentError, file_error
from dmr.io.npz import DAMAGE

_LOCAL_HEADER = 30  # bytes of a member's header in a zip archive, before its name


@contextmanager
def reading_archive(path: Path) -> Iterator[None]:
    """Turns what goes wrong while an archive is read into errors that name the file."""
    try:
        yield
    except FileContentError:
        raise
    except OSError as error:
        raise file_error(error, path, "cannot be read") from error
    except DAMAGE as error:
        raise FileContentError(f"is damaged: {error}", path) from error


def read_rows(path: Path, name: str, start: int, stop: int) -> NDArray[Any]:
    """Reads rows `start` to `stop` of an array.

    Raises:
        FileError: the file cannot be read, or holds no such array, or fewer rows.
    """
    with reading_archive(path), path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            member = archive.getinfo(f"{name}.npy")
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER)
        # The name and the extra field follow, with the lengths in the last four bytes (APPNOTE.TXT, 4.3.7).
        file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        np.lib.format.read_magic(file)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
        if member.compress_type != zipfile.ZIP_STORED or by_columns or not 0 <= start <= stop <= shape[0]:
            raise FileContentError(f"has no rows {start} to {stop} of {name}", path)
        width = int(np.prod(shape[1:], dtype=np.int64))
        file.seek(start * width * dtype.itemsize, 1)
        rows = np.fromfile(file, dtype, (stop - start) * width)
        return rows.reshape(stop - start, *shape[1:])
