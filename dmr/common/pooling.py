"""Thread pools that also work during interpreter shutdown, and locks that also work after `fork`.

`atexit` handlers and daemon threads may run when Python no longer starts threads. Then `concurrent.futures` raises
RuntimeError for submitted work, and for its own first import. The calling thread does such work itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def new_pool(threads: int, name: str, begin: Callable[[], None] | None = None) -> ThreadPoolExecutor | None:
    """Create a thread pool, or return None during interpreter shutdown.

    Args:
        threads: the maximum number of threads; name: the prefix of their names.
        begin: initialiser that each thread calls first.
    """
    try:
        from concurrent.futures import ThreadPoolExecutor
    except RuntimeError:  # its first import registers a function to be called at exit
        return None
    return ThreadPoolExecutor(threads, name, begin)


def submit(
    pool: ThreadPoolExecutor | None,
    work: Callable[_Arguments, _Result],
    *arguments: _Arguments.args,
    **options: _Arguments.kwargs,
) -> Future[_Result]:
    """Submit `work` to a pool; during interpreter shutdown, call it here and propagate its exceptions."""
    if pool is not None:
        try:
            return pool.submit(work, *arguments, **options)
        except RuntimeError:
            pass
    done: Future[_Result] = Future()
    done.set_result(work(*arguments, **options))
    return done


def close(pool: ThreadPoolExecutor | None) -> None:
    """Cancel work that has not begun, and wait for the rest; a Ctrl-C during the wait is raised after it."""
    if pool is not None:
        try:
            pool.shutdown(cancel_futures=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def in_forked_children(function: Callable[[], object]) -> None:
    """Calls a function in each child process that this process forks from now on; nothing on systems without fork()."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def after_forks(function: Callable[[], object]) -> None:
    """Calls a function in this process after each of its forks from now on; nothing on systems without fork()."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=function)


class ForkSafeLock:
    """A lock for the lifetime of the process, for `with`; in a child of `fork` it is free.

    There the thread that held it does not exist, and no thread would release it.
    """

    def __init__(self) -> None:
        self._renew()
        in_forked_children(self._renew)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.Lock()
