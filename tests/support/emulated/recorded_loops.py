"""Emulates a GPU's recorded loops on the CPU: a loop is recorded once without running, and then replayed.

A replaced array is overwritten, as freed memory would be. Thus a machine without a GPU reveals a recording that
outlives one of its arrays, or that transfers or waits for something.
"""

from __future__ import annotations

import numpy as np

from dmr.memory.arguments import bound_of
from dmr.memory.arrays import DeviceArray, Loop
from dmr.memory.host.device import HostArray, HostDevice
from dmr.memory.signatures import signatures
from dmr.refinement.state.workspace import Workspace


def record_loops(monkeypatch):
    """Makes every `HostDevice.loop` a recording for the duration of the test."""
    launch, grown, scratch = HostDevice.launch, DeviceArray.grown, Workspace.array
    recordings = []  # the recording in progress, if any

    class Recording(Loop):
        def __init__(self, device, body, stop):
            self.stop, self.launches = stop, []
            recordings.append(self.launches)
            try:
                body()
                device.launch("launch_again", 1, stop, None)
            finally:
                recordings.pop()

        def run(self, meanwhile=None):
            if meanwhile is not None:
                meanwhile()
            while True:
                for one in self.launches:
                    one()
                if self.stop.values[0]:
                    return

    def recorded_launch(self, kernel, count, *arguments):
        if not recordings:
            launch(self, kernel, count, *arguments)
        elif bound_of(count) > 0:
            signatures()[kernel].values(arguments, self.looked_up)  # checks them against the declaration
            recordings[-1].append(lambda: launch(self, kernel, count, *arguments))

    def replaced(old, new):
        if old is not None and new is not old and old.size:
            assert not recordings, "an array is replaced while a loop is recorded"
            old.values.view(np.uint8).fill(0x5A)
        return new

    def unless_recording(method):
        def checked(self, *arguments):
            assert not recordings, f"{method.__name__} while a loop is recorded"
            return method(self, *arguments)

        return checked

    monkeypatch.setattr(HostDevice, "loop", lambda self, body, stop: Recording(self, body, stop))
    monkeypatch.setattr(HostDevice, "launch", recorded_launch)
    monkeypatch.setattr(HostDevice, "foreseen", lambda self, number: bound_of(number))
    monkeypatch.setattr(DeviceArray, "grown", lambda self, size, **how: replaced(self, grown(self, size, **how)))
    monkeypatch.setattr(
        Workspace, "array", lambda self, name, *more: replaced(self._arrays.get(name), scratch(self, name, *more))
    )
    for name in ("_upload", "_download"):
        monkeypatch.setattr(HostArray, name, unless_recording(getattr(HostArray, name)))
