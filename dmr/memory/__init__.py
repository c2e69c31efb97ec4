"""Device memory and kernel launches behind one interface, for both `dmr` and `static_graph`.

    device = open_device("auto")
    values = device.array(numpy.arange(10, dtype=numpy.int32))
    offsets = scan(values)
    device.launch("scatter_flagged", 10, ...)
    result = offsets.download()

Kernels are launched by name; arguments are checked against the kernel's declaration in `cuda_src`. The CPU backend
runs the same kernels as the GPU backend, compiled from the same source. The errors that this package raises, from which
every package built on it derives its own, are exported here, too.
"""

from __future__ import annotations

from dmr._version import __version__
from dmr.common.arguments import TooLargeError, kind_of, real, shortened, whole
from dmr.common.available import available_memory, require_memory
from dmr.common.cached import cached_property
from dmr.common.errors import (
    DeviceUnavailableError,
    DmrError,
    ExistingFileError,
    FileContentError,
    FileError,
    FileSystemError,
    FolderError,
    InternalError,
    MissingFileError,
    NativeLibraryError,
    OptionError,
    OutOfMemoryError,
    file_error,
    printable,
    system_reason,
)
from dmr.common.frozen import HoldsFrozen, freeze, freeze_fields, frozen, is_frozen
from dmr.common.interrupts import allow_interrupts, interruptible
from dmr.common.threads import available_threads, thread_count
from dmr.memory.arguments import Argument, DeviceCount, Number, Packed, bound_of
from dmr.memory.arrays import Device, DeviceArray, Loop
from dmr.memory.declarations import Enumeration, constant, record
from dmr.memory.discovery import DeviceInfo, devices, gpu_absence, open_device, warm
from dmr.memory.host.copying import copy
from dmr.memory.primitives import (
    argsort,
    compact,
    flagged_indices,
    minmax_float64,
    scan,
    sort_pairs,
    sum_float64,
    total,
)
from dmr.memory.signatures import pack, signatures

__all__ = [
    "Argument",
    "Device",
    "DeviceArray",
    "DeviceCount",
    "DeviceInfo",
    "DeviceUnavailableError",
    "DmrError",
    "Enumeration",
    "ExistingFileError",
    "FileContentError",
    "FileError",
    "FileSystemError",
    "FolderError",
    "HoldsFrozen",
    "InternalError",
    "Loop",
    "MissingFileError",
    "NativeLibraryError",
    "Number",
    "OptionError",
    "OutOfMemoryError",
    "Packed",
    "TooLargeError",
    "__version__",
    "allow_interrupts",
    "argsort",
    "available_memory",
    "available_threads",
    "bound_of",
    "cached_property",
    "compact",
    "constant",
    "copy",
    "devices",
    "file_error",
    "flagged_indices",
    "freeze",
    "freeze_fields",
    "frozen",
    "gpu_absence",
    "interruptible",
    "is_frozen",
    "kind_of",
    "minmax_float64",
    "open_device",
    "pack",
    "printable",
    "real",
    "record",
    "require_memory",
    "scan",
    "shortened",
    "signatures",
    "sort_pairs",
    "sum_float64",
    "system_reason",
    "thread_count",
    "total",
    "warm",
    "whole",
]
