"""Inputs of readers: a file on a disk, or a stream such as stdin."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from dmr.common.arguments import as_path, shortened
from dmr.common.available import require_memory
from dmr.common.errors import file_error, printable
from dmr.common.files.compressed import READ_BYTES, unpacked_by_content
from static_graph.errors import DmrError, FileContentError, FolderError, MissingFileError, WrongTypeError

Source: TypeAlias = "str | os.PathLike[str] | BinaryIO"


@dataclass(frozen=True)
class Input:
    """A file, or the content of a stream.

    Attributes:
        path: the file; for a stream its name, for messages.
        content: what the stream held; None for a file on a disk.
    """

    path: Path
    content: io.BytesIO | None = None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Opens the bytes as they are, from the beginning; the file can be positioned."""
        if self.content is not None:
            self.content.seek(0)
            yield self.content
            return
        with self.path.open("rb") as file:
            yield file

    @contextmanager
    def unpacked(self) -> Iterator[BinaryIO]:
        """Opens the content, decompressed if gzip compressed it.

        Raises:
            FileError: it cannot be read or decompressed, also while the block reads it.
        """
        try:
            with self.opened() as file, unpacked_by_content(file, self.path) as content:
                yield content
        except OSError as error:
            if isinstance(error, DmrError):
                raise
            raise file_error(error, self.path, "cannot be read") from error

    def size(self) -> int:
        """Returns the number of bytes, before any decompression."""
        return self.path.stat().st_size if self.content is None else len(self.content.getbuffer())


def given_input(source: Source) -> Input:
    """Checks a path, or reads a stream whole; the available memory is checked meanwhile.

    Raises:
        FileError: there is no such file, or the stream cannot be read.
        WrongTypeError: `source` is neither a path nor a binary stream.
        OutOfMemoryError: the content does not fit.
    """
    if isinstance(source, (str, os.PathLike)) or not hasattr(source, "read"):
        return Input(_existing(as_path(source)))
    if isinstance(source, io.TextIOBase):
        raise WrongTypeError(f"{shortened(source)} is open as text: open it in binary mode, or pass its buffer")
    name = getattr(source, "name", None)
    path = Path(name if isinstance(name, str) and name else "<stream>")
    content = io.BytesIO()
    try:
        while piece := source.read(READ_BYTES):
            require_memory(content.tell() // 4 + len(piece), str(path))  # the buffer may be moved to a larger one
            content.write(piece)
    except DmrError:
        raise
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be read") from error
    except Exception as error:  # raised by a foreign object's read, or by what it returns
        raise FileContentError(f"cannot be read: {error}", path) from error
    return Input(path, content)


def unknown_suffix(path: Path) -> str:
    """Returns the beginning of a message about a name whose suffix is not that of a format."""
    if path.suffix:
        return f"unknown suffix {printable(path.suffix)}"
    return "the name has no suffix that says what it is, and no format is given"


def _existing(path: Path) -> Path:
    try:
        if path.is_dir():
            raise FolderError("is a folder, not a file", path)
        if not path.exists():
            raise MissingFileError("does not exist", path)
        if path.is_fifo() or path.is_char_device():  # cannot be opened twice, or has no end
            raise FileContentError("is a pipe or a device, not a file on a disk: copy it into one", path)
    except DmrError:
        raise
    except (OSError, ValueError) as error:
        raise file_error(error, path, "cannot be read") from error
    return path
