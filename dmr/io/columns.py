"""The columns of a table, and the error messages for its lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dmr.io import native
from dmr.io.numbering import Numbering

_NAMED_FIELDS = 12
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]*,[0-9]*([eEdD][+-]?[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table after its row numbers: indices, reals, integers.

    Attributes:
        entity: what a row describes ("vertex").
        plural: the plural of `entity`.
        target: what an index refers to.
        index_names, real_names: the names of the columns, for messages.
        indices, reals, integers: the number of columns of each type.
        finite: how many leading reals must be finite.
        optional_reals: how many trailing reals may be missing (a missing one repeats the previous value).
        distinct: how many leading indices must differ.
        allow_none: whether an index may be -1.
    """

    entity: str
    plural: str
    target: str = "vertex"
    index_names: tuple[str, ...] = ()
    real_names: tuple[str, ...] = ()
    indices: int = 0
    reals: int = 0
    integers: int = 0
    finite: int = 0
    optional_reals: int = 0
    distinct: int = 0
    allow_none: bool = False

    def fields(self) -> dict[str, int]:
        """Returns the fields of the struct `DmrTable` that describe the columns."""
        counts = ("indices", "reals", "integers", "finite", "optional_reals", "distinct", "allow_none")
        return {name: getattr(self, name) for name in counts}

    @property
    def most_fields(self) -> int:
        """The maximum number of fields in a row."""
        return 1 + self.indices + self.reals + self.integers

    @property
    def least_fields(self) -> int:
        """The minimum number of fields in a row."""
        return self.most_fields - self.optional_reals

    def name(self, field: int) -> str:
        """The name of a column."""
        if field == 0:
            return "number"
        field -= 1
        if field < self.indices:
            return self.index_names[field]
        field -= self.indices
        if field < self.reals:
            known = len(self.real_names)
            return self.real_names[field] if field < known else f"attribute {field - known + 1}"
        return "marker"

    def form(self) -> str:
        """Describes all columns: "3 fields (number, x, y)"."""
        least, most = self.least_fields, self.most_fields
        names = [self.name(k) for k in range(min(most, _NAMED_FIELDS))]
        names += ["..."] if most > _NAMED_FIELDS else []
        amount = str(most) if least == most else f"{least} or {most}"
        return f"{amount} fields ({', '.join(names)})"


def shown(token: bytes) -> str:
    """A token of a file in quotes, safe to print, truncated if it is long."""
    text = token.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def fault_sentence(fault: native.Fault, token: bytes, columns: Columns, numbering: Numbering) -> str:
    """The message for a line that the native library rejected."""
    name, code, value = columns.name(fault.field), fault.code, fault.value
    if code == native.TOO_FEW:
        return f"a {columns.entity} has {columns.form()}, but this line has {value}"
    if code == native.NO_SUCH_ENTITY:
        return f"{columns.entity} names {columns.target} {value}, {numbering.describe(columns.target)}"
    if code == native.REPEATED:
        return f"{columns.entity} names {columns.target} {value} twice"
    if code == native.NOT_FINITE:
        return f"{name} of a {columns.entity} is {shown(token)}, not a finite number"
    if code == native.TOO_LARGE:
        return f"{shown(token)} is too large ({name} of a {columns.entity})"
    kind = "whole number" if code == native.NOT_WHOLE else "number"
    hint = "; use a decimal point" if _DECIMAL_COMMA.fullmatch(token) else ""
    return f"{shown(token)} is not a {kind} ({name} of a {columns.entity}){hint}"
