"""Arrays on a device that the host may read later, or never."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from dmr.memory.arrays import Device, DeviceArray


class DeferredContent:
    """The content of an array on a device, downloaded when it is first read, or when the device needs its memory.

    It may be read from any thread. The array must no longer be changed.
    """

    def __init__(self, array: DeviceArray) -> None:
        """Takes an array; in main memory, its content is read in place."""
        self._device = array.device
        self._array: DeviceArray | None = array
        self._content: NDArray[Any] | None = None
        self._process = os.getpid()
        if self._device.threads:
            self.read()
        else:
            with self._device.lock:
                self._device.deferred.add(self)

    def read(self) -> NDArray[Any] | None:
        """Returns the content; None in a process that was forked before it was read, where a GPU cannot be used."""
        if self._content is not None:
            return self._content
        if self._process != os.getpid():
            return None
        with self._device.lock, self._device.current:
            if self._array is not None:
                self._content = self._array.content()
                self._array = None
                self._device.deferred.discard(self)
        return self._content


def read_all(device: Device) -> None:
    """Downloads the deferred arrays of a device, which releases its memory."""
    for each in list(device.deferred):
        each.read()
