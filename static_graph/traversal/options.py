"""Checks of the options of schemes (`schemes/table.py`)."""

from __future__ import annotations

from typing import Any

from dmr.common.arguments import real_option, shortened, switch, whole_option
from dmr.common.text import option
from static_graph.errors import OptionError
from static_graph.traversal.schemes.table import OPTIONS

LARGEST = 2**62  # largest integer option: above any degree, and within the range of kernel arguments


def checked_options(**options: Any) -> dict[str, Any]:
    """Checks options of schemes; returns those that are not None.

    Raises:
        OptionError: a value of the wrong type, or out of range. The schemes check the lower bounds of integers.
    """
    return {name: _checked(name, value) for name, value in options.items() if value is not None}


def _checked(name: str, value: Any) -> Any:
    """Checks and returns the value of an option."""
    kind = OPTIONS[name].kind
    if kind == "switch":
        return switch(name, value)
    if kind == "real":
        real = real_option(name, value)
        if not 0 < real < float("inf"):
            raise OptionError(f"{option(name)} = {real}: it must be above 0, and finite")
        return real
    if kind == "degree" and isinstance(value, str) and value == "auto":
        return value
    number = whole_option(name, value, 'a whole number, or "auto"' if kind == "degree" else "a whole number")
    if abs(number) > LARGEST:
        raise OptionError(f"{option(name)} = {shortened(number)}: it must be 2^62 at most")
    return number
