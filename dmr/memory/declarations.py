"""Declarations of the C++ source (`cuda_src`): kernels, structs, records, enumerations and constants.

Python takes all of them from the source, so each is written once:

    KERNEL(scale, float64 *values, float64 factor) {       a kernel: its name, its file, the types of its arguments
    KERNEL_STRUCT(Capacity) { int64 records; ... };        a struct that is passed to kernels by value
    struct Extent { int32 members; int32 edges; };         a record, the element of a device array: record("Extent")
    enum Choice : int32 { UNBEATEN, EVERYONE };            class Choice(Enumeration): ...
    constexpr int TILE = TEAM_SIZE * ITEMS;                constant("TILE", "primitives/scan.cu")
    constexpr float64 EPSILON = 0x1p-53;                   real_constant("EPSILON", "geometry/predicates.cuh")
    #define ..._KERNELS...(name, Body) KERNEL(...)         a macro that declares several kernels where it is used

Each declaration begins at the start of a line. All files are read in one pass, at the first question, except that a
real constant needs only its file. Threads that ask it at the same time may each read them, with equal results.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import EnumMeta, IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from dmr.common.errors import InternalError

_COMMENT = re.compile(r"//[^\n]*")
# These begin with the end of the line before, and not with ^: then re looks at line ends only, and is 3 times as fast.
_KERNEL = re.compile(
    r"\n((?:(?:HIGH|MEDIUM)_OCCUPANCY_)?(?:COOPERATIVE_)?(?:TEAM_)?)KERNEL\(\s*(\w+)\s*,(.*?)\)\s*\{", re.DOTALL
)
_KERNEL_STRUCT = re.compile(r"\nKERNEL_STRUCT\(\s*(\w+)\s*\)\s*\{(.*?)\n\};", re.DOTALL)
_RECORD = re.compile(r"\nstruct (?:alignas\(\d+\) )?(\w+) \{(.*?)(?:\n| )\};", re.DOTALL)
_ENUMERATION = re.compile(r"\nenum (\w+)(?: : \w+)? \{(.*?)\};", re.DOTALL)
_CONSTANTS = re.compile(r"\nconstexpr (?:int|u?int(?:8|32|64)|Index|float64) (\w+ = [^;]*);")
_NEXT_CONSTANT = re.compile(r",\s*(?=\w+ = )")
_HEXADECIMAL_REAL = re.compile(r"\b0x[0-9a-fA-F.]+p[+-]?\d+\b")
_NUMBER = re.compile(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b")
_FAMILY = re.compile(r"\n#define (\w+_KERNELS\w*)\(([^)]*)\)((?:[^\n]*\\\n)+[^\n]*)")
_OF_FAMILY = re.compile(r"\n(\w+_KERNELS\w*)\(([^)]*)\)")
_FIELD = re.compile(r"(\w+)\s+(\w+(?:\[\d+\])?(?:\s*,\s*\w+(?:\[\d+\])?)*)\s*;")
_ADDRESS_FIELD = re.compile(r"(?:const )?[\w:]+ \*(\w+);")

SCALARS: dict[str, np.dtype[Any]] = {
    name: np.dtype(name) for name in ("int32", "uint32", "int64", "uint64", "float64", "uint8")
}
COUNT = "Count"  # the type of a number, or of its address on the device (cuda_src/portable)

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
}  # fmt: skip

Texts: TypeAlias = dict[str, dict[str, str]]  # of declarations, by name and by file (relative to `cuda_src`)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, or a field of a KERNEL_STRUCT.

    Attributes:
        type: C++ type without const; pointer: whether it is a pointer to that type; name: its name.
        dtype: the elements of the array that a pointer refers to.
        fields: those of a KERNEL_STRUCT that is passed by value.
    """

    type: str
    pointer: bool
    name: str
    dtype: np.dtype[Any] | None = None
    fields: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name, its `.cu` file, and its parameters in order.

    Attributes:
        team: a block processes one index.
        grid: all threads run at once and synchronise (a cooperative launch).
    """

    name: str
    source: Path
    team: bool
    grid: bool
    parameters: tuple[Parameter, ...]


class Declarations:
    """The declarations of all files of a source folder, or of one file.

    Attributes:
        kernels, structs: all kernels, and the fields of each KERNEL_STRUCT, by name.
    """

    def __init__(self, folder: Path, file: str | None = None) -> None:
        """Reads all `.cu` and `.cuh` files of a folder, or one of its files.

        Raises:
            InternalError: a kernel that is declared twice, or a parameter or field of an unknown type.
        """
        self.kernels: dict[str, Kernel] = {}
        self.structs: dict[str, tuple[Parameter, ...]] = {}
        self._records: Texts = {}
        self._dtypes: dict[str, np.dtype[Any]] = {**SCALARS, "float32": np.dtype(np.float32)}  # float32: only arrays
        self._enumerations: Texts = {}
        self._constants: Texts = {}
        files = sorted(folder.rglob("*.cu*")) if file is None else [folder / file]
        texts = {path: "\n" + _COMMENT.sub("", path.read_text(encoding="utf-8")) for path in files}
        for path, text in texts.items():
            self._read_values(text, path.relative_to(folder).as_posix())
        for path, text in texts.items():
            for name, body in _KERNEL_STRUCT.findall(text):
                self.structs[name] = tuple(self._fields(body, f"struct {name} of {path.name}"))
        families = {name: each for text in texts.values() for name, *each in _FAMILY.findall(text)}
        for path, text in texts.items():
            for kind, name, parameters in _KERNEL.findall(_with_families(text, families)):
                if name in self.kernels:
                    first = self.kernels[name].source.name
                    raise InternalError(f"kernel {name} is declared in {first} and in {path.name}")
                parsed = tuple(self._parameter(each, f"kernel {name}") for each in parameters.split(","))
                self.kernels[name] = Kernel(name, path, "TEAM_" in kind, "COOPERATIVE_" in kind, parsed)

    def _read_values(self, text: str, file: str) -> None:
        """Collects the texts of the records, enumerations and constants of a file; only those asked for are parsed."""
        for name, body in _RECORD.findall(text):
            self._records.setdefault(name, {})[file] = body
        for name, body in _ENUMERATION.findall(text):
            self._enumerations.setdefault(name, {})[file] = body
            value = "0"
            for entry in filter(None, map(str.strip, body.split(","))):
                member, _, given = entry.partition(" = ")
                self._constants.setdefault(member, {})[file] = given or value
                value = f"{member} + 1"
        for line in _CONSTANTS.findall(text):
            for constant in _NEXT_CONSTANT.split(line):
                name, _, value = constant.partition(" = ")
                self._constants.setdefault(name, {})[file] = value

    def _fields(self, body: str, of: str) -> Iterator[Parameter]:
        """Yields the fields of a KERNEL_STRUCT: pointers and numbers of 64 bits, one per line, before its methods.

        Names of types (`using`) may stand among them.
        """
        for text in filter(None, map(str.strip, body.split("METHOD")[0].split(";"))):
            if text.startswith("using "):
                continue
            parameter = self._parameter(text, of)
            if not parameter.pointer and parameter.type not in ("int64", "uint64", "float64"):
                raise InternalError(f"{of}: the field {parameter.name} must be a pointer or a number of 64 bits")
            yield parameter

    def _parameter(self, text: str, of: str) -> Parameter:
        match [word for word in text.replace("*", " * ").split() if word != "const"]:
            case [type_, "*", name]:
                return Parameter(type_, True, name, dtype=self.record(type_))
            case [type_, name] if type_ in SCALARS or type_ == COUNT:
                return Parameter(type_, False, name)
            case [type_, name] if type_ in self.structs:
                return Parameter(type_, False, name, fields=self.structs[type_])
        raise InternalError(f"{of}: cannot read the parameter {text.strip()!r}")

    def record(self, name: str) -> np.dtype[Any]:
        """Returns the numpy dtype of a number, or of a struct of numbers, arrays of them, addresses and such structs.

        Raises:
            InternalError: there is no such struct, or it has other fields.
        """
        if name in self._dtypes:
            return self._dtypes[name]
        file, body = _only(self._records, "struct", name)
        fields: list[tuple[Any, ...]] = []
        body = _ADDRESS_FIELD.sub(r"uint64 \1;", body)
        for type_, names in _FIELD.findall(body):
            for each in map(str.strip, names.split(",")):
                label, _, size = each.rstrip("]").partition("[")
                kind = self.record(type_) if type_ in self._records else SCALARS.get(type_)
                fields.append((label, kind, *([int(size)] if size else [])))
        if not fields or _FIELD.sub("", body).strip() or any(kind is None for _, kind, *_ in fields):
            raise InternalError(f"struct {name} of {file}: a record has numbers and addresses as fields")
        return self._dtypes.setdefault(name, np.dtype(fields, align=True))

    def members(self, enum: str, count: str | None = None) -> dict[str, int]:
        """Returns the members of an enumeration, and their values.

        Args:
            enum: its name; count: its last member, if that is the number of the others: it is left out.

        Raises:
            InternalError: there is no such enumeration, or `count` is not its last member.
        """
        file, body = _only(self._enumerations, "enum", enum)
        members = [entry.partition(" = ")[0] for entry in filter(None, map(str.strip, body.split(",")))]
        if count is not None and members.pop() != count:
            raise InternalError(f"enum {enum} of {file}: the last member is not {count}")
        return {member: self.constant(member, file) for member in members}

    def constant(self, name: str, file: str | None = None) -> int:
        """Returns an integer constant, or the value of an enumeration's member.

        Args:
            name: its name; file: the file that declares it ("primitives/scan.cu"), if several files have that name.

        Raises:
            InternalError: there is no such constant, several files declare it, it is no integer, or its expression has
                other parts than numbers, constants and the operators + - * <<.
        """
        found = self._evaluate(name, file)
        if not isinstance(found, int):
            raise InternalError(f"constant {name} is {found!r}, not an integer")
        return found

    def real_constant(self, name: str, file: str | None = None) -> float:
        """Returns a constant of type float64; arguments and errors are those of `constant`."""
        return float(self._evaluate(name, file))

    def _evaluate(self, name: str, file: str | None) -> int | float:
        """Returns the value of a constant."""
        file, expression = _only(self._constants, "constant", name, file)
        text = _HEXADECIMAL_REAL.sub(lambda found: repr(float.fromhex(found[0])), expression.replace("'", ""))
        try:
            value: int | float = self._value(ast.parse(_NUMBER.sub(r"\1", text), mode="eval").body, file)
        except (SyntaxError, NotImplementedError):
            raise InternalError(f"constant {name} of {file}: cannot read {expression!r}") from None
        return value

    def _value(self, node: ast.expr, file: str) -> Any:
        """Evaluates an expression of a file; names of other files must be declared only once."""
        match node:
            case ast.Constant(value=int(number) | float(number)):
                return number
            case ast.Name(id=name):
                return self._evaluate(name, file if file in self._constants.get(name, ()) else None)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, file)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
                return _OPERATORS[type(sign)](self._value(left, file), self._value(right, file))
        raise NotImplementedError


def _with_families(text: str, families: dict[str, list[str]]) -> str:
    """Returns a file's text, followed by what the macros that declare several kernels stand for."""
    if "_KERNELS" not in text:
        return text
    for name, arguments in _OF_FAMILY.findall(text):
        parameters, body = families[name]
        lines = "\n".join(line.strip(" \\") for line in body.split("\n"))
        for parameter, argument in zip(parameters.split(","), arguments.split(","), strict=True):
            lines = re.sub(rf"\b{parameter.strip()}\b(?:##)?", argument.strip(), lines)
        text += _with_families("\n" + lines, families)
    return text


def _only(declared: Texts, kind: str, name: str, file: str | None = None) -> tuple[str, str]:
    """Returns the file and the text of the declaration of a name: the only one, or the one in `file`."""
    found = declared.get(name, {})
    files = [each for each in found if file in (None, each)]
    if not files:
        raise InternalError(f"{file or 'the C++ source'} declares no {kind} {name}")
    if len(files) > 1:
        raise InternalError(f"{kind} {name} is declared in {', '.join(files)}: the file must be given")
    return files[0], found[files[0]]


def source_folder() -> Path:
    """Returns the folder of the kernels: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "cuda_src", package.parent / "cuda_src"):
        if (folder / "portable" / "portable.cuh").is_file():
            return folder
    raise InternalError("the kernel sources (cuda_src) are missing from this installation: install dmr again")


@cache
def declarations() -> Declarations:
    """Returns the declarations of `cuda_src`."""
    return Declarations(source_folder())


def record(name: str) -> np.dtype[Any]:
    """Returns the numpy dtype of a struct of the C++ source by its name (`Declarations.record`)."""
    return declarations().record(name)


@cache
def constant(name: str, file: str | None = None) -> int:
    """Returns an integer constant of the C++ source by its name, and file if it needs one (`Declarations.constant`)."""
    return declarations().constant(name, file)


@cache
def real_constant(name: str, file: str) -> float:
    """Returns a float64 constant of the C++ source by its name; reads only the file that has it.

    All files take 15 ms, which is much for a triangulation that needs a single number.
    """
    return Declarations(source_folder(), file).real_constant(name)


_Member = TypeVar("_Member")


class _FromSource(EnumMeta):
    """Gives an enumeration its members when its class statement is run."""

    @classmethod
    def __prepare__(metacls, cls: str, bases: tuple[type, ...], **declared: Any) -> Any:  # type: ignore[override]
        namespace = super().__prepare__(cls, bases)
        if bases != (IntEnum,):  # not Enumeration itself
            for member, value in declarations().members(**{"enum": cls, **declared}).items():
                namespace[member] = value
        return namespace

    def __new__(metacls, cls: str, bases: tuple[type, ...], namespace: Any, **_: Any) -> Any:
        return super().__new__(metacls, cls, bases, namespace)

    if TYPE_CHECKING:

        def __getattr__(cls: type[_Member], name: str) -> _Member:
            """The members, whose names a type checker cannot know."""


class Enumeration(IntEnum, metaclass=_FromSource):
    """Base of enumerations whose members and values the C++ source declares.

        class Stop(Enumeration, enum="StopReason"):
            '''Why rounds ended.'''

    `enum` is the name of the enumeration in the source, by default that of the class. `count` is its last member, if
    that is the number of the others: it is left out (`Declarations.members`).
    """
