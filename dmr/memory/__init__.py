"""Device memory and kernel launches behind one interface, for both `dmr` and `static_graph`.

    device = open_device("auto")
    values = device.array(numpy.arange(10, dtype=numpy.int32))
    offsets = scan(values)
    device.launch("scatter_flagged", 10, ...)
    result = offsets.download()

Kernels are launched by name; arguments are checked against the kernel's declaration in `cuda_src`. The CPU backend
runs the same kernels as the GPU backend, compiled from the same source. The errors that this package raises are
exported here, too, and so are the checks of memory and threads that come before a launch.
"""

from __future__ import annotations

from dmr._version import __version__
from dmr.common.available import available_memory, require_memory
from dmr.common.errors import (
    DeviceUnavailableError,
    DmrError,
    InternalError,
    NativeLibraryError,
    OptionError,
    OutOfMemoryError,
)
from dmr.common.lazy import lazy_names
from dmr.common.moved import NAMES_OF_MEMORY
from dmr.common.threads import available_threads, thread_count
from dmr.memory.arguments import Argument, DeviceCount, Number, Packed, bound_of
from dmr.memory.arrays import Device, DeviceArray, Loop
from dmr.memory.arriving import Arriving, arrive, arriving_results, finish_arrivals, rows_of
from dmr.memory.declarations import Enumeration, constant, real_constant, record
from dmr.memory.deferred import DeferredContent
from dmr.memory.discovery import DeviceInfo, device_of, devices, gpu_absence, open_device, warm
from dmr.memory.host.copying import all_finite, copy, touch
from dmr.memory.primitives import (
    argsort,
    compact,
    flagged_indices,
    minmax_float64,
    scan,
    set_values,
    sort_pairs,
    sum_float64,
    total,
    values_at,
)
from dmr.memory.signatures import pack, signatures

__all__ = [
    "Argument",
    "Arriving",
    "DeferredContent",
    "Device",
    "DeviceArray",
    "DeviceCount",
    "DeviceInfo",
    "DeviceUnavailableError",
    "DmrError",
    "Enumeration",
    "InternalError",
    "Loop",
    "NativeLibraryError",
    "Number",
    "OptionError",
    "OutOfMemoryError",
    "Packed",
    "__version__",
    "all_finite",
    "argsort",
    "arrive",
    "arriving_results",
    "available_memory",
    "available_threads",
    "bound_of",
    "compact",
    "constant",
    "copy",
    "device_of",
    "devices",
    "finish_arrivals",
    "flagged_indices",
    "gpu_absence",
    "minmax_float64",
    "open_device",
    "pack",
    "real_constant",
    "record",
    "require_memory",
    "rows_of",
    "scan",
    "set_values",
    "signatures",
    "sort_pairs",
    "sum_float64",
    "thread_count",
    "total",
    "touch",
    "values_at",
    "warm",
]

__getattr__, _ = lazy_names(__name__, NAMES_OF_MEMORY)
