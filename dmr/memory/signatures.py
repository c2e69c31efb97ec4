"""Kernel signatures: the arguments of every launch are checked against the kernel's declaration, and laid out."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np

from dmr.common.cached import cached_property
from dmr.common.errors import InternalError
from dmr.memory.arguments import Argument, ArrayArgument, Number, Packed
from dmr.memory.declarations import COUNT, Kernel, Parameter, declarations

# Scalar types: struct format of one padded eight-byte slot (little-endian, as on x86-64, aarch64 and the GPU).
_SLOTS = {COUNT: "q", "int32": "i4x", "uint32": "I4x", "int64": "q", "uint64": "Q", "float64": "d", "uint8": "B7x"}
_RANGES = {
    COUNT: (0, 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "uint8": (0, 255),
}


Check: TypeAlias = "tuple[Parameter, np.dtype[Any] | None, type | None]"


class Signature(Kernel):
    """A kernel's declaration, and what follows from it for the values of a launch."""

    @cached_property
    def slots(self) -> struct.Struct:
        """The layout of the values in eight-byte slots, as `cuda_src/portable/host.hpp` reads them."""
        return struct.Struct(self.slots_of(self.parameters))

    @cached_property
    def _checks(self) -> list[Check]:
        return _checks(self.parameters)

    @staticmethod
    def slots_of(parameters: Sequence[Parameter]) -> str:
        """The struct format of the slots of some parameters."""
        return "<" + "".join(map(_slots, parameters))

    @cached_property
    def letters(self) -> str:
        """The struct letters of the parameters on a GPU, as PyCUDA's `prepare` takes them."""
        return "".join(map(_letters, self.parameters))

    @property
    def sizes(self) -> list[int]:
        """The bytes of each parameter in `slots`."""
        return [8 * max(len(parameter.fields), 1) for parameter in self.parameters]

    def values(
        self, arguments: Sequence[Argument], looked_up: Callable[[Number], tuple[int, ...]]
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
        checks = self._checks
        if len(arguments) != len(checks):
            raise InternalError(f"kernel {self.name} takes {len(self.parameters)} arguments, not {len(arguments)}")
        found: list[int | float] = []
        add, given = found.append, cast("Sequence[Any]", arguments)
        for (parameter, dtype, exact), argument in zip(checks, given):  # noqa: B905 (equally many: `strict` takes time)
            # Fast paths for the usual arguments: launches are many and short.
            if dtype is not None:
                if argument is None:
                    add(0)
                    continue
                try:
                    fits = argument.dtype is dtype
                except AttributeError:
                    fits = False
                add(argument.pointer if fits else _value(self.name, parameter, argument))
            elif (kind := type(argument)) is exact and (kind is float or 0 <= argument < 2**31):
                if parameter.type == COUNT:
                    found.extend(looked_up(argument))
                else:
                    add(argument)
            elif parameter.fields:
                if type(argument) is not Packed or argument.type != parameter.type:
                    raise InternalError(f"kernel {self.name}: {parameter.name} must be a packed {parameter.type}")
                found += argument.values
            elif parameter.type == COUNT:
                found.extend(looked_up(self._count(parameter, argument)))
            else:
                add(_value(self.name, parameter, argument))
        return found

    def _count(self, parameter: Parameter, argument: Any) -> Number:
        if getattr(argument, "place", None) is not None:
            return cast("Number", argument)
        return int(_value(self.name, parameter, argument))


def _checks(parameters: Sequence[Parameter]) -> list[Check]:
    """Returns parameters, each with the dtype of its array, and the type of numbers that need no check (`_exact`)."""
    return [(each, each.dtype if each.pointer else None, _exact(each)) for each in parameters]


def _slots(parameter: Parameter) -> str:
    """Returns the struct formats of a parameter's eight-byte slots: one, or those of its fields."""
    if parameter.fields:
        return "".join(map(_slots, parameter.fields))
    return "Q" if parameter.pointer else _SLOTS[parameter.type]


def _exact(parameter: Parameter) -> type | None:
    """Returns the type of numbers of which those from 0 to 2^31 fit a parameter; None if there is no such type."""
    if parameter.pointer or parameter.fields or parameter.type == "uint8":
        return None
    return float if parameter.type == "float64" else int


def _letters(parameter: Parameter) -> str:
    """Returns the struct letters of a parameter, or of its fields, on a GPU; a Count is an address and a number."""
    if parameter.fields:
        return "".join(map(_letters, parameter.fields))
    return "P" if parameter.pointer else "Pq" if parameter.type == COUNT else _SLOTS[parameter.type][0]


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
    dtype = getattr(argument, "dtype", None)
    if dtype != parameter.dtype:
        raise InternalError(
            f"kernel {of}: argument {parameter.name} must be an array of {parameter.type}, not of {dtype}"
        )
    return int(argument.pointer)


def pack(type_: str, **fields: ArrayArgument | float | None) -> Packed:
    """Makes the argument for a KERNEL_STRUCT parameter.

    Args:
        type_: the struct's name; fields: arrays and numbers by the names of its fields, None for an array that is not
            there.

    Raises:
        InternalError: unknown struct, or fields that do not match its declaration.
    """
    checks = _struct_checks(type_)
    values: list[int | float] = []
    add = values.append
    for parameter, dtype, exact in checks:
        try:
            argument: Any = fields[parameter.name]
        except KeyError:
            break
        # Fast paths for the usual fields, as in `Signature.values`.
        if dtype is not None:
            if argument is None:
                add(0)
            elif getattr(argument, "dtype", None) is dtype:
                add(argument.pointer)
            else:
                add(_value(type_, parameter, argument))
        elif (kind := type(argument)) is exact and (kind is float or 0 <= argument < 2**31):
            add(argument)
        else:
            add(_value(type_, parameter, argument))
    if not len(values) == len(checks) == len(fields):
        raise InternalError(f"the fields of {type_} are {', '.join([each.name for each, _, _ in checks])}")
    return Packed(type_, tuple(values))


@cache
def _struct_checks(type_: str) -> list[Check]:
    """Returns the checks of the fields of a KERNEL_STRUCT."""
    declared = declarations().structs.get(type_)
    if declared is None:
        raise InternalError(f"there is no kernel struct {type_}")
    return _checks(declared)


@cache
def signatures() -> dict[str, Signature]:
    """Returns the signatures of all kernels of `cuda_src`, by name."""
    return {
        name: Signature(kernel.name, kernel.source, kernel.team, kernel.grid, kernel.parameters)
        for name, kernel in declarations().kernels.items()
    }
