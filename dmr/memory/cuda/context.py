"""The primary context of a GPU: current on a thread only while a call uses it, and protected by one lock.

The primary context is the one that CuPy, PyTorch and Numba use as well. PyCUDA keeps a stack of contexts for each
thread, and aborts the process when a thread ends with a context on it. Therefore a context is pushed when a call begins
and popped when it ends, and the previously current context is restored.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import ReferenceType, ref

import pycuda.driver as driver

from dmr.common.errors import DeviceUnavailableError, InternalError
from dmr.common.pooling import in_forked_children
from dmr.common.text import option
from dmr.memory.cuda.drivercalls import call

P = ParamSpec("P")
T = TypeVar("T")


class _ThreadUse(threading.local):
    """The use of a context by one thread.

    Attributes:
        scope: the outermost `Current` block that the thread is in. The reference is weak, and dead if an interrupt
            kept the block from being left.
        pushed: whether the context is on PyCUDA's stack of this thread; before: the context that was current then.
    """

    scope: ReferenceType[Current] | None = None
    pushed = False
    before = 0


class PrimaryContext:
    """The primary context of one GPU.

    Attributes:
        name: of the device ("cuda:0"); lock: reentrant, held by the thread that uses the device.
        use: how the calling thread uses the context.
    """

    def __init__(self, number: int, clear_up: Callable[[], None]) -> None:
        """Retains the context of a GPU, by its number; `clear_up` is called at the end of each outermost block."""
        self.name = f"cuda:{number}"
        self._clear_up = clear_up
        self.lock = threading.RLock()
        self._context: Any = driver.Device(number).retain_primary_context()
        self.use = _ThreadUse()
        self._forked = False
        in_forked_children(self._reset)  # for ever, as a device is never destroyed

    @property
    def current(self) -> Current:
        """A block in which the context is current on the calling thread, which holds the lock; blocks may nest."""
        return Current(self)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """A block for transfers beside the thread that holds the lock: the context is current on the calling thread.

        The calling thread is in no other block, and does not use what the lock protects.
        """
        self.repair()
        self._push()
        try:
            yield
        finally:
            self._pop()

    def in_use(self) -> bool:
        """Whether the calling thread is inside such a block."""
        scope = self.use.scope
        return scope is not None and scope() is not None

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Leaves all blocks of the calling thread and releases the lock; restores both at the end."""
        use, lock = self.use, self.lock
        scope, use.scope = use.scope, None
        self._pop()
        held = lock._release_save()  # type: ignore[attr-defined]  # as threading.Condition does it
        try:
            yield
        finally:
            self._take_back(held)
            self._push()
            use.scope = scope

    def _take_back(self, held: Any) -> None:
        """Reacquires the lock, despite interrupts, because the enclosing blocks release it when they end."""
        interrupt: BaseException | None = None
        while not self.lock._is_owned():  # type: ignore[attr-defined]
            try:
                self.lock._acquire_restore(held)  # type: ignore[attr-defined]
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def enter(self, block: Current) -> None:
        """Makes the context current at the beginning of an outermost block."""
        if self.in_use():
            return
        self.repair()
        self._push()
        self.use.scope = ref(block)

    def leave(self, block: Current) -> None:
        """Restores the previously current context, at the end of an outermost block."""
        scope = self.use.scope
        if scope is not None and scope() is block:
            try:
                self._clear_up()
            finally:
                self.use.scope = None
                self._pop()

    def repair(self) -> None:
        """Pops the context if an interrupt kept the end of a block from doing so."""
        if self.use.pushed and not self.in_use() and not self._forked:
            self._pop()

    def _push(self) -> None:
        if self._forked:
            raise DeviceUnavailableError(
                f"{self.name} was used before this process was forked, and CUDA does not work in a forked process: "
                f"start processes with the method 'spawn', or use {option('device', 'cpu')} here"
            )
        use = self.use
        use.before = _current()
        use.pushed = True
        try:
            self._context.push()
        except driver.Error as error:
            use.pushed = False
            raise InternalError(f"{self.name} cannot be used: {error}") from None

    def _pop(self) -> None:
        use = self.use
        if not use.pushed:
            return
        with suppress(driver.Error):  # no context is current, or a kernel's fault has ended all contexts of the process
            if driver.Context.get_current() == self._context:
                driver.Context.pop()
        use.pushed = False
        if _current() != use.before:
            with suppress(InternalError):
                call("cuCtxSetCurrent", ctypes.c_void_p(use.before or None))

    def _reset(self) -> None:
        """Resets the state in a child of fork(): the context is unusable, the lock is free, nothing is pushed."""
        self._forked = True
        self.lock = threading.RLock()
        self.use = _ThreadUse()


class Current:
    """A block in which a context is current (`PrimaryContext.current`)."""

    __slots__ = ("__weakref__", "_context")

    def __init__(self, context: PrimaryContext) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._context.enter(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.leave(self)


class Owner(Protocol):
    """An object whose operations need a context."""

    context: PrimaryContext


O = TypeVar("O", bound=Owner)  # noqa: E741


def in_context(operation: Callable[Concatenate[O, P], T]) -> Callable[Concatenate[O, P], T]:
    """Decorates an operation to take the device, unless the calling thread already has it."""

    @wraps(operation)
    def guarded(owner: O, /, *args: P.args, **kwargs: P.kwargs) -> T:
        context = owner.context
        scope = context.use.scope  # inlines `in_use`, whose call would take longer than some launches
        if scope is not None and scope() is not None:
            return operation(owner, *args, **kwargs)
        with context.lock, context.current:
            return operation(owner, *args, **kwargs)

    return guarded


def _current() -> int:
    """Returns the handle of the context that is current on this thread, of any library; 0 if there is none."""
    handle = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(handle))
    return handle.value or 0
