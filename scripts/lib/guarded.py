"""Runs functions in a separate process with a time limit, so that their crashes and hangs do not reach the caller.

A batch of calls shares a process as long as it lives. This is needed for Triangle (the `triangle` package), which
crashes its process on some inputs and never ends on others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dmr

STARTING = 120.0  # seconds that a process may take to start


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Result of a call.

    Attributes:
        value: return value of the function; None if it failed.
        failure: empty, or "TIMEOUT", the name of a signal, or "error: " and the exception.
        seconds: time that the function took.
    """

    value: Any = None
    failure: str = ""
    seconds: float = 0.0


class Guarded:
    """Calls a module-level function with picklable arguments in another process.

    Args:
        function: the function to call.
        limit: time limit of a call in seconds, after which its process is killed.
        fresh: starts a new process for each call.
    """

    def __init__(self, function: Callable[..., Any], limit: float, *, fresh: bool = False) -> None:
        self._function, self._limit, self._fresh = function, limit, fresh
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Connection | None = None

    def __call__(self, *arguments: Any) -> Answer:
        """Calls the function; does not raise its exceptions."""
        pipe = self._pipe or self._start()
        started = time.perf_counter()
        try:
            pipe.send(arguments)
            answer = pipe.recv() if pipe.poll(self._limit) else Answer(failure="TIMEOUT", seconds=self._limit)
            alive = answer.failure != "TIMEOUT"
        except (EOFError, OSError):
            answer, alive = Answer(failure=self._epitaph(), seconds=time.perf_counter() - started), False
        if self._fresh or not alive:
            self.close()
        assert isinstance(answer, Answer)
        return answer

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def __enter__(self) -> Guarded:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Connection:
        self._pipe, inner = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(self._function, inner), daemon=True)
        self._process.start()
        inner.close()
        if not self._pipe.poll(STARTING) or self._pipe.recv() != "ready":
            raise dmr.DmrError("the process for a guarded call did not start")
        return self._pipe

    def _epitaph(self) -> str:
        self._process.join()
        code = self._process.exitcode
        return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"


def _serve(function: Callable[..., Any], pipe: Connection) -> None:
    """Answers calls until the pipe is closed. Output of C code is discarded."""
    sink = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(sink, stream)
    pipe.send("ready")
    while True:
        try:
            arguments = pipe.recv()
        except EOFError:
            return
        started = time.perf_counter()
        try:
            answer = Answer(value=function(*arguments), seconds=time.perf_counter() - started)
        except Exception as error:  # any exception is returned as the answer
            text = " ".join(f"{type(error).__name__}: {error}".split())
            answer = Answer(failure=f"error: {text}", seconds=time.perf_counter() - started)
        pipe.send(answer)


def triangle_mesh(pslg: dmr.Pslg, switches: str) -> dmr.Mesh | None:
    """Triangulates a PSLG with Triangle; None if the result has no triangles. Call only in a guarded process."""
    import triangle

    given: dict[str, NDArray[Any]] = {"vertices": pslg.vertices.copy()}
    for name, array in (("segments", pslg.segments), ("holes", pslg.holes), ("regions", pslg.regions)):
        if len(array):
            given[name] = array.copy()
    made = triangle.triangulate(given, switches)
    if not len(made.get("triangles", ())):
        return None
    return dmr.Mesh(np.asarray(made["vertices"]), np.asarray(made["triangles"]))
