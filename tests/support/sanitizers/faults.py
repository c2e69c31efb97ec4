"""Causes a fault that a sanitizer must report: `python faults.py LIBRARY overrun|race`."""

from __future__ import annotations

import sys

import numpy as np

from dmr.memory import open_device
from tests.support.sanitizers.kernels import use

library, fault = sys.argv[1:]
use(library)
device = open_device("cpu", 3)
if fault == "overrun":
    device.launch("fill_indices", 101, device.empty(100, np.int32))
if fault == "race":
    flags, places = device.array(np.ones(100_000, np.int32)), device.zeros(100_000, np.int32)
    for _ in range(2000):  # on a busy machine one thread may run a whole launch, and those after it
        device.launch("scatter_indices", 100_000, flags, places, device.empty(1, np.int32))  # all write to one place
