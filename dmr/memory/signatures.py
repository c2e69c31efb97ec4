"""Kernel signatures, read from the kernels' own declarations: the one place where a launch is checked.

A `.cu` file declares `KERNEL(name, const int32 *values, float64 factor) {`. From that line come the kernel's name, the
file to compile for the GPU, and the type that each argument of a launch must have.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dmr.errors import InternalError

if TYPE_CHECKING:
    from dmr.memory.arrays import DeviceArray, Number

_DECLARATION = re.compile(r"^(TEAM_|GRID_)?KERNEL\(\s*(\w+)\s*,(.*?)\)\s*\{", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*")

# Scalar types: the struct format of one eight-byte slot (little-endian, as on x86-64, aarch64 and the GPU), padded.
_SLOTS = {"Count": "q", "int32": "i4x", "uint32": "I4x", "int64": "q", "uint64": "Q", "float64": "d", "uint8": "B7x"}
COUNT = "Count"  # a number, or where the device has it (portable.cuh)
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
    """Makes a C++ struct of `cuda_src` known, by its numpy dtype, as the element type of device arrays."""
    _RECORDS[name] = dtype


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter: its C++ type without const, whether it is a pointer, its name."""

    type: str
    pointer: bool
    name: str


@dataclass(frozen=True)
class Signature:
    """A kernel: name, the `.cu` file that holds it, parameters in order.

    Attributes:
        team: a block works on one index.
        grid: all threads run at once and wait for each other (a cooperative launch).
    """

    name: str
    source: Path
    team: bool
    grid: bool
    parameters: tuple[Parameter, ...]

    @cached_property
    def slots(self) -> struct.Struct:
        """How the values lie in eight-byte slots, as `cuda_src/host.hpp` takes them apart."""
        return struct.Struct("<" + "".join("Q" if p.pointer else _SLOTS[p.type] for p in self.parameters))

    @cached_property
    def letters(self) -> str:
        """The struct letters of the parameters on a GPU, as PyCUDA's `prepare` takes them."""
        return "".join("P" if p.pointer else "Pq" if p.type == COUNT else _SLOTS[p.type][0] for p in self.parameters)

    def values(
        self,
        arguments: Sequence[DeviceArray | Number | float | None],
        looked_up: Callable[[Number], tuple[int, ...]],
    ) -> list[int | float]:
        """Addresses and numbers for a launch, after a check of the arguments' count, kinds and dtypes.

        Args:
            arguments: one a parameter.
            looked_up: what a Count becomes on the device: one value or several.

        Returns:
            The values, one for each letter.

        Raises:
            InternalError: an argument that does not fit the kernel's declaration.
        """
        if len(arguments) != len(self.parameters):
            raise InternalError(f"kernel {self.name} takes {len(self.parameters)} arguments, not {len(arguments)}")
        found: list[int | float] = []
        for parameter, argument in zip(self.parameters, arguments, strict=True):
            if parameter.type == COUNT and not parameter.pointer:
                found.extend(looked_up(self._count(parameter, argument)))
            else:
                found.append(self._value(parameter, argument))
        return found

    def _count(self, parameter: Parameter, argument: Any) -> Number:
        if getattr(argument, "place", None) is not None:
            return cast("Number", argument)
        return int(self._value(parameter, argument))

    def _value(self, parameter: Parameter, argument: Any) -> int | float:
        if parameter.pointer:
            return 0 if argument is None else self._address(parameter, argument)
        if parameter.type == "float64":
            if not isinstance(argument, int | float | np.integer | np.floating):
                raise InternalError(f"kernel {self.name}: {parameter.name} must be a number, not {argument!r}")
            return float(argument)
        if not isinstance(argument, int | np.integer):
            raise InternalError(f"kernel {self.name}: {parameter.name} must be a whole number, not {argument!r}")
        number = int(argument)
        low, high = _RANGES[parameter.type]
        if not low <= number <= high:
            raise InternalError(f"kernel {self.name}: {parameter.name} = {number} does not fit {parameter.type}")
        return number

    def _address(self, parameter: Parameter, argument: Any) -> int:
        expected = _RECORDS.get(parameter.type)
        if expected is None:
            raise InternalError(f"kernel {self.name}: the type {parameter.type} was never registered")
        dtype = getattr(argument, "dtype", None)
        if dtype != expected:
            raise InternalError(
                f"kernel {self.name}: argument {parameter.name} must be an array of {parameter.type}, not of {dtype}"
            )
        return int(argument.pointer)


def source_folder() -> Path:
    """The folder of the kernels: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "cuda_src", package.parent / "cuda_src"):
        if (folder / "portable.cuh").is_file():
            return folder
    raise InternalError("the kernel sources (cuda_src) are missing from this installation: install dmr again")


@cache
def signatures() -> dict[str, Signature]:
    """Every kernel of `cuda_src`, by name."""
    found: dict[str, Signature] = {}
    folder = source_folder()
    for source in sorted(folder.rglob("*.cu")):
        text = _COMMENT.sub("", source.read_text(encoding="utf-8"))
        for kind, name, parameters in _DECLARATION.findall(text):
            if name in found:
                raise InternalError(f"kernel {name} is declared in {found[name].source.name} and in {source.name}")
            parsed = tuple(_parse(name, p) for p in parameters.split(","))
            found[name] = Signature(name, source, kind == "TEAM_", kind == "GRID_", parsed)
    return found


def _parse(kernel: str, text: str) -> Parameter:
    words = text.replace("*", " * ").split()
    words = [word for word in words if word not in ("const", "struct")]
    match words:
        case [type_, "*", name]:
            return Parameter(type_, True, name)
        case [type_, name] if type_ in _SLOTS:
            return Parameter(type_, False, name)
    raise InternalError(f"kernel {kernel}: cannot read the parameter {text.strip()!r}")
