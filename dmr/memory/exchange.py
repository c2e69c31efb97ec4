"""Exchange of arrays with other libraries without a copy.

Two protocols are spoken: DLPack (the Python array API, `__dlpack__`), and the CUDA array interface, version 3
(`__cuda_array_interface__`). Memory stays alive as long as either side refers to it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import kind_of
from dmr.common.errors import WrongTypeError
from dmr.common.native import members

Place: TypeAlias = "tuple[int, int]"  # of DLPack: the kind of a device (DLDeviceType), and its number

CPU, CUDA, CUDA_HOST = 1, 2, 3  # kinds of devices; the last one is page-locked main memory
KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}  # numpy's letter for a DLDataTypeCode

# As the CUDA array interface and DLPack number streams.
NO_STREAM, LEGACY_STREAM = -1, 1


class _Tensor(ctypes.Structure):
    """The DLTensor at the beginning of a DLManagedTensor (dlpack.h)."""

    _fields_ = (
        *members("address data", "int32 kind number dimensions", "uint8 code bits", "uint16 lanes"),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Borrowed:
    """Memory of a GPU that belongs to another library.

    Attributes:
        pointer: its address; size: number of elements; dtype: of an element.
        place: the device; None if only the driver knows it.
        stream: the stream whose work must end before the memory is used, as the protocols number streams; None if no
            work is pending; NO_STREAM if unknown.
        owner: keeps the memory alive.
    """

    pointer: int
    size: int
    dtype: np.dtype[Any]
    place: Place | None
    stream: int | None
    owner: Any

    def lend(self) -> None:
        """Does nothing: the memory is returned to its owner, which knows when it may be reused."""


def capsule(pointer: int, size: int, dtype: np.dtype[Any], place: Place, owner: Any) -> Any:
    """Returns a DLPack capsule of memory on any device.

    numpy makes the capsule, of an array that has the memory's address and is never read, and the device is then
    entered: numpy's deleter is safe on any thread, and when the interpreter ends.

    Args:
        pointer, size, dtype: the array; place: its device.
        owner: keeps the memory alive.

    Raises:
        BufferError: DLPack has no such dtype.
    """
    made = np.asarray(_Addressed(pointer, size, dtype, owner)).__dlpack__()
    tensor = _tensor(made)
    tensor.kind, tensor.number = place
    return made


def location_of(array: Any) -> Place | None:
    """Returns where an array of another library is; None if only the driver knows it.

    Raises:
        WrongTypeError: it is on a device of another kind, or its `__dlpack_device__` fails.
    """
    if isinstance(array, np.ndarray):
        return CPU, 0
    if hasattr(array, "__dlpack_device__"):
        try:
            kind, number = map(int, array.__dlpack_device__())
        except Exception as error:  # raised by a foreign object
            raise WrongTypeError(f"{kind_of(array)} does not report its device: {error}") from None
        if kind not in (CPU, CUDA, CUDA_HOST):
            raise WrongTypeError(f"{kind_of(array)} is neither in main memory nor on a CUDA GPU")
        return (CUDA, number) if kind == CUDA else (CPU, 0)
    return None if hasattr(array, "__cuda_array_interface__") else (CPU, 0)


def on_host(array: Any) -> NDArray[Any]:
    """Returns an array in main memory as one of numpy, without a copy if possible.

    Raises:
        WrongTypeError: it is not an array.
    """
    try:
        if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
            return np.asarray(array)
        return np.from_dlpack(array)
    except Exception as error:  # raised by a foreign object
        raise WrongTypeError(f"{kind_of(array)} is not an array that can be shared: {error}") from None


def borrowed(array: Any, stream: int) -> Borrowed:
    """Returns the memory of another library's array on a GPU.

    Args:
        array: one-dimensional and contiguous; it speaks one of the protocols.
        stream: the stream on which it will be used; with DLPack, the owner makes it wait.

    Raises:
        WrongTypeError: it speaks no protocol, or has another layout or dtype.
    """
    try:
        return _by_dlpack(array, stream) if hasattr(array, "__dlpack__") else _by_cuda_interface(array)
    except WrongTypeError:
        raise
    except Exception as error:  # raised by a foreign object
        raise WrongTypeError(f"{kind_of(array)} is not an array that can be shared: {error}") from None


def _by_dlpack(array: Any, stream: int) -> Borrowed:
    made = array.__dlpack__(stream=stream)
    tensor = _tensor(made)
    size = tensor.shape[0] if tensor.dimensions == 1 else 0
    contiguous = not tensor.strides or size <= 1 or tensor.strides[0] == 1
    _check_layout(array, dimensions=tensor.dimensions, contiguous=contiguous)
    kind = KINDS.get(tensor.code) if tensor.lanes == 1 else None
    if kind is None or tensor.bits not in (8, 16, 32, 64):
        raise WrongTypeError(f"{kind_of(array)} has elements of a type that numpy does not have")
    # The capsule stays as it is: its destructor returns the memory.
    pointer = (tensor.data or 0) + tensor.byte_offset
    place = (tensor.kind, tensor.number)
    return Borrowed(pointer, size, np.dtype(f"{kind}{tensor.bits // 8}"), place, None, made)


def _by_cuda_interface(array: Any) -> Borrowed:
    face = array.__cuda_array_interface__
    shape, dtype = tuple(face["shape"]), np.dtype(face["typestr"])
    strides = face.get("strides")
    contiguous = strides is None or tuple(strides) == (dtype.itemsize,) or shape in ((0,), (1,))
    _check_layout(array, dimensions=len(shape), contiguous=contiguous and face.get("mask") is None)
    stream = face.get("stream", NO_STREAM)
    if stream is None:  # nothing is pending; PyCUDA says so, too, while a small array is still being copied
        stream = LEGACY_STREAM
    return Borrowed(int(face["data"][0] or 0), shape[0], dtype, None, stream, array)


def _check_layout(array: Any, *, dimensions: int, contiguous: bool) -> None:
    if dimensions != 1:
        raise WrongTypeError(f"{kind_of(array)} has {dimensions} dimensions; arrays that are shared have one")
    if not contiguous:
        raise WrongTypeError(f"{kind_of(array)} is not contiguous, or masked: copy it first")


class _Addressed:
    """Memory by its address, in the form from which numpy makes an array without reading it."""

    def __init__(self, pointer: int, size: int, dtype: np.dtype[Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": dtype.str,
            "descr": dtype.descr,
            "data": (pointer, False),
            "version": 3,
        }


def _tensor(made: Any) -> _Tensor:
    """Returns the tensor of a capsule; it is valid as long as the capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return _Tensor.from_address(get(made, b"dltensor"))
