"""Pools of threads that also work while the interpreter ends.

Handlers of `atexit` and daemon threads run when Python starts no more threads: `concurrent.futures` raises RuntimeError
for work that is submitted then, and for its own first import. The calling thread does such work itself.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def new_pool(threads: int, name: str, begin: Callable[[], None] | None = None) -> ThreadPoolExecutor | None:
    """A pool of threads, or None while the interpreter ends.

    Args:
        threads: the most threads of the pool; name: what their names begin with.
        begin: what each of them calls first.
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
    """Has a pool call `work`; while the interpreter ends, calls it here, and raises what it raises."""
    if pool is not None:
        try:
            return pool.submit(work, *arguments, **options)
        except RuntimeError:
            pass
    done: Future[_Result] = Future()
    done.set_result(work(*arguments, **options))
    return done
