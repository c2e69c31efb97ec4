"""Kernel signatures, read from the kernels' own declarations; all launches are checked against them.

A `.cu` file declares `KERNEL(name, const int32 *values, float64 factor) {`. This line gives the kernel's name, the file
to compile for the GPU, and the required type of each argument of a launch. A parameter can be a struct, which a header
declares by `KERNEL_STRUCT(name) {`; `pack` makes its argument.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from dmr.common.cached import cached_property
from dmr.common.errors import InternalError

if TYPE_CHECKING:
    from dmr.memory.arrays import DeviceArray, DeviceCount, Number

_DECLARATION = re.compile(
    r"^((?:HIGH_OCCUPANCY_)?(?:COOPERATIVE_)?(?:TEAM_)?)KERNEL\(\s*(\w+)\s*,(.*?)\)\s*\{", re.MULTILINE | re.DOTALL
)
_STRUCT = re.compile(r"^KERNEL_STRUCT\(\s*(\w+)\s*\)\s*\{(.*?)^\};", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^ +((?:const )?\w+ \*?\w+);", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")

# Scalar types: struct format of one padded eight-byte slot (little-endian, as on x86-64, aarch64 and the GPU).
_SLOTS = {"Count": "q", "int32": "i4x", "uint32": "I4x", "int64": "q", "uint64": "Q", "float64": "d", "uint8": "B7x"}
Argument: TypeAlias = "DeviceArray | DeviceCount | Packed | float | None"  # of a launch
COUNT = "Count"  # a number, or its address on the device (portable.cuh)
_RANGES = {
    "Count": (0, 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "uint8": (0, 255),
}

_RECORDS: dict[str, np.dtype[Any]] = {
    name: np.dtype(name) for name in ("int32", "uint32", "int64", "uint64", "float64", "uint8")
}


def register_record(name: str, dtype: np.dtype[Any]) -> None:
    """Registers a C++ struct of `cuda_src`, by its numpy dtype, as an element type of device arrays."""
    _RECORDS[name] = dtype


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter: its C++ type without const, whether it is a pointer, and its name."""

    type: str
    pointer: bool
    name: str

    size = 8  # bytes of its slot

    @property
    def slot(self) -> str:
        """The struct format of its eight-byte slot."""
        return "Q" if self.pointer else _SLOTS[self.type]

    @property
    def letters(self) -> str:
        """The struct letters on a GPU."""
        return "P" if self.pointer else "Pq" if self.type == COUNT else _SLOTS[self.type][0]


@dataclass(frozen=True)
class StructParameter:
    """A KERNEL_STRUCT parameter, passed by value."""

    type: str
    name: str

    @property
    def size(self) -> int:
        """Bytes of its fields' slots."""
        return 8 * len(structs()[self.type])

    @property
    def slot(self) -> str:
        """The struct formats of its fields' slots."""
        return "".join(field.slot for field in structs()[self.type])

    @property
    def letters(self) -> str:
        """The struct letters of its fields on a GPU."""
        return "".join(field.letters for field in structs()[self.type])


@dataclass(frozen=True)
class Packed:
    """The argument for a KERNEL_STRUCT parameter: its type, and the values of its fields (`pack`)."""

    type: str
    values: tuple[int | float, ...]


@dataclass(frozen=True)
class Signature:
    """A kernel: its name, its `.cu` file, and its parameters in order.

    Attributes:
        team: a block processes one index.
        grid: all threads run at once and synchronise (a cooperative launch).
    """

    name: str
    source: Path
    team: bool
    grid: bool
    parameters: tuple[Parameter | StructParameter, ...]

    @cached_property
    def slots(self) -> struct.Struct:
        """The layout of the values in eight-byte slots, as `cuda_src/portable/host.hpp` reads them."""
        return struct.Struct("<" + "".join(parameter.slot for parameter in self.parameters))

    @cached_property
    def letters(self) -> str:
        """The struct letters of the parameters on a GPU, as PyCUDA's `prepare` takes them."""
        return "".join(parameter.letters for parameter in self.parameters)

    def values(
        self,
        arguments: Sequence[Argument],
        looked_up: Callable[[Number], tuple[int, ...]],
    ) -> list[int | float]:
        """Returns addresses and numbers for a launch; checks the arguments' count, kinds and dtypes.

        Args:
            arguments: one per parameter.
            looked_up: gives what a Count becomes on the device: one or several values.

        Returns:
            The values, one per letter.

        Raises:
            InternalError: an argument that does not match the kernel's declaration.
        """
        if len(arguments) != len(self.parameters):
            raise InternalError(f"kernel {self.name} takes {len(self.parameters)} arguments, not {len(arguments)}")
        found: list[int | float] = []
        for parameter, argument in zip(self.parameters, cast("Sequence[Any]", arguments), strict=True):
            if isinstance(parameter, StructParameter):
                if not isinstance(argument, Packed) or argument.type != parameter.type:
                    raise InternalError(f"kernel {self.name}: {parameter.name} must be a packed {parameter.type}")
                found.extend(argument.values)
            elif parameter.pointer and getattr(argument, "dtype", self) is _RECORDS.get(parameter.type):
                found.append(argument.pointer)  # fast path for the usual array: launches are many and short
            elif parameter.type == COUNT and not parameter.pointer:
                found.extend(looked_up(self._count(parameter, argument)))
            else:
                found.append(_value(self.name, parameter, argument))
        return found

    def _count(self, parameter: Parameter, argument: Any) -> Number:
        if getattr(argument, "place", None) is not None:
            return cast("Number", argument)
        return int(_value(self.name, parameter, argument))


def _value(of: str, parameter: Parameter, argument: Any) -> int | float:
    """Returns the value of an argument of the kernel or struct `of`, after a check."""
    if parameter.pointer:
        return 0 if argument is None else _address(of, parameter, argument)
    if parameter.type == "float64":
        if not isinstance(argument, int | float | np.integer | np.floating):
            raise InternalError(f"kernel {of}: {parameter.name} must be a number, not {argument!r}")
        return float(argument)
    if not isinstance(argument, int | np.integer):
        raise InternalError(f"kernel {of}: {parameter.name} must be a whole number, not {argument!r}")
    number = int(argument)
    low, high = _RANGES[parameter.type]
    if not low <= number <= high:
        raise InternalError(f"kernel {of}: {parameter.name} = {number} does not fit {parameter.type}")
    return number


def _address(of: str, parameter: Parameter, argument: Any) -> int:
    expected = _RECORDS.get(parameter.type)
    if expected is None:
        raise InternalError(f"kernel {of}: the type {parameter.type} was never registered")
    dtype = getattr(argument, "dtype", None)
    if dtype != expected:
        raise InternalError(
            f"kernel {of}: argument {parameter.name} must be an array of {parameter.type}, not of {dtype}"
        )
    return int(argument.pointer)


def pack(type_: str, **fields: DeviceArray | float | None) -> Packed:
    """Makes the argument for a KERNEL_STRUCT parameter from array addresses and numbers, by the fields' names.

    Raises:
        InternalError: unknown struct, or fields that do not match its declaration.
    """
    declared = structs().get(type_)
    if declared is None:
        raise InternalError(f"there is no kernel struct {type_}")
    if set(fields) != {field.name for field in declared}:
        raise InternalError(f"the fields of {type_} are {', '.join(field.name for field in declared)}")
    return Packed(type_, tuple(_value(type_, field, fields[field.name]) for field in declared))


def source_folder() -> Path:
    """Returns the folder of the kernels: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "cuda_src", package.parent / "cuda_src"):
        if (folder / "portable" / "portable.cuh").is_file():
            return folder
    raise InternalError("the kernel sources (cuda_src) are missing from this installation: install dmr again")


@cache
def structs() -> dict[str, tuple[Parameter, ...]]:
    """Returns the fields of every KERNEL_STRUCT of `cuda_src`, by name; each field has eight bytes."""
    found: dict[str, tuple[Parameter, ...]] = {}
    for source in sorted(source_folder().rglob("*.cu*")):
        for name, body in _STRUCT.findall(_COMMENT.sub("", source.read_text(encoding="utf-8"))):
            declared = body.split("METHOD")[0]
            fields = tuple(_parse_one(name, text) for text in _FIELD.findall(declared))
            if declared.count(";") != len(fields):
                raise InternalError(f"struct {name} of {source.name}: declare one field per line")
            if any(not field.pointer and field.type not in ("int64", "uint64", "float64") for field in fields):
                raise InternalError(
                    f"struct {name} of {source.name}: only pointers and numbers of 64 bits can be fields"
                )
            found[name] = fields
    return found


@cache
def signatures() -> dict[str, Signature]:
    """Returns all kernels of `cuda_src`, by name."""
    found: dict[str, Signature] = {}
    folder = source_folder()
    for source in sorted(folder.rglob("*.cu")):
        text = _COMMENT.sub("", source.read_text(encoding="utf-8"))
        for kind, name, parameters in _DECLARATION.findall(text):
            if name in found:
                raise InternalError(f"kernel {name} is declared in {found[name].source.name} and in {source.name}")
            parsed = tuple(_parse(name, p) for p in parameters.split(","))
            found[name] = Signature(name, source, "TEAM_" in kind, "COOPERATIVE_" in kind, parsed)
    return found


def _parse(kernel: str, text: str) -> Parameter | StructParameter:
    match text.split():
        case [type_, name] if type_ in structs():
            return StructParameter(type_, name)
    return _parse_one(kernel, text)


def _parse_one(kernel: str, text: str) -> Parameter:
    words = text.replace("*", " * ").split()
    words = [word for word in words if word not in ("const", "struct")]
    match words:
        case [type_, "*", name]:
            return Parameter(type_, True, name)
        case [type_, name] if type_ in _SLOTS:
            return Parameter(type_, False, name)
    raise InternalError(f"kernel {kernel}: cannot read the parameter {text.strip()!r}")
