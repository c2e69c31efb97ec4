"""Launches a kernel one place beyond an array: what a sanitizer must not overlook.

    python overrun.py LIBRARY
"""

from __future__ import annotations

import sys

import numpy as np
from kernels import use

from dmr.memory import open_device

use(sys.argv[1])
device = open_device("cpu", 1)
device.launch("fill_indices", 101, device.empty(100, np.int32))
