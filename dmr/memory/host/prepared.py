"""Launches of one kernel that are prepared once, for calls so short that checks of arguments would dominate."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ctypes import c_char, c_double, c_int, c_int64, c_void_p

from dmr.common.errors import InternalError
from dmr.memory.arguments import Argument
from dmr.memory.arrays import Device
from dmr.memory.host.compiler import library, timed_kernel
from dmr.memory.host.device import SMALLEST_PIECE, HostDevice
from dmr.memory.signatures import signatures


class PreparedLaunch:
    """A kernel over one index on a CPU, with its arguments checked and laid out; some of them change from run to run.

    One thread at a time may use it.
    """

    def __init__(self, device: Device, kernel: str, arguments: Sequence[Argument], changing: Sequence[str]) -> None:
        """Checks the arguments against the kernel's declaration, as every launch does.

        Args:
            device: a CPU; its launches cannot be recorded here.
            kernel: its name; arguments: of the first run.
            changing: consecutive parameters, numbers or arrays, whose values each run gives.

        Raises:
            InternalError: an argument that does not match the declaration; parameters that are not consecutive.
        """
        assert isinstance(device, HostDevice)
        signature = signatures()[kernel]
        names = [parameter.name for parameter in signature.parameters]
        first = names.index(changing[0])
        if names[first : first + len(changing)] != list(changing):
            raise InternalError(f"{', '.join(changing)} are not consecutive parameters of kernel {kernel}")
        values = signature.values(arguments, device.looked_up)
        self._buffer = bytearray(signature.slots.pack(*values))
        self._offset = sum(signature.sizes[:first])
        letters = signature.slots_of(signature.parameters[first : first + len(changing)])
        self._pack = struct.Struct(letters).pack_into
        self._slots = (c_char * len(self._buffer)).from_buffer(self._buffer)
        self._device, self._kernel = device, kernel
        once, one_thread = c_int64(1), c_int(1)
        self._call = c_void_p(timed_kernel(kernel)), once, self._slots, one_thread, c_double(SMALLEST_PIECE)
        self._run = library().host_launch
        self._arrays = arguments  # keeps their memory alive

    def __call__(self, *values: int) -> None:
        """Runs the kernel; `values`: numbers, and addresses of arrays (`address_of`, or 0), unchecked."""
        self._pack(self._buffer, self._offset, *values)
        launches = self._device.calling.launches
        launches[self._kernel] = launches.get(self._kernel, 0) + 1
        self._run(*self._call)
