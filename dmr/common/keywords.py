"""Unknown keyword arguments of public functions: an error of the package that names what may have been meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from dmr.common.errors import WrongTypeError
from dmr.common.text import nearest

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def checks_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Makes a function refuse unknown keyword arguments by a `WrongTypeError`, which is also a TypeError.

    Its signature, docstring and name stay visible.
    """
    known = inspect.signature(function).parameters.keys()
    name = getattr(function, "__name__", "the function")

    @wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        unknown = next((each for each in kwargs if each not in known), None)
        if unknown is not None:
            near = nearest(unknown, known)
            hint = f"did you mean {near}?" if near else f"help({name}) lists its options"
            raise WrongTypeError(f"{name} has no option {unknown}: {hint}")
        return function(*args, **kwargs)

    return checked
