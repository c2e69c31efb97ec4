"""Records when the steps of a task run, such as waiting for the device or writing: a time line shows them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
Steps = list[tuple[str, float, float]]  # of each the name, and when it began and ended, in seconds since 1970

_recording = threading.local()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Records the time of a block as a step of the task that the calling thread runs; steps may be nested."""
    steps: Steps | None = getattr(_recording, "steps", None)
    if steps is None:
        yield
        return
    begun = time.time()
    try:
        yield
    finally:
        steps.append((name, begun, time.time()))


@contextmanager
def recorded_steps() -> Iterator[Steps]:
    """Gives the steps that the calling thread records in the block."""
    before: Steps | None = getattr(_recording, "steps", None)
    steps: Steps = []
    _recording.steps = steps
    try:
        yield steps
    finally:
        _recording.steps = before


def with_steps(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Returns a function for another thread, which records steps of the task that the calling thread runs now."""
    steps: Steps | None = getattr(_recording, "steps", None)

    def recorded(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        before: Steps | None = getattr(_recording, "steps", None)
        _recording.steps = steps
        try:
            return function(*arguments, **options)
        finally:
            _recording.steps = before

    return recorded
