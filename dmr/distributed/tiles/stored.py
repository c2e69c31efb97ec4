"""Several patches in one folder."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder


class Stored:
    """The arrays of one of several patches in a folder."""

    def __init__(self, folder: Folder, place: int | str) -> None:
        self._folder, self._prefix = folder, f"{place}-"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array."""
        return self._folder[self._prefix + name]

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Stores an array."""
        self._folder[self._prefix + name] = array

    def __contains__(self, name: object) -> bool:
        """Whether there is an array of that name."""
        return isinstance(name, str) and self._prefix + name in self._folder
