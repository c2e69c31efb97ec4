"""Thread pools are closed completely, also where Ctrl-C interrupts the wait."""

from __future__ import annotations

import _thread
import threading

import pytest

from dmr.common.pooling import close, new_pool, submit


def test_ctrl_c_while_a_pool_closes_is_raised_after_its_threads_ended():
    begun, ends = threading.Event(), threading.Event()
    pool = new_pool(1, "closing")

    def work() -> None:
        begun.set()
        ends.wait(10)

    def interrupt() -> None:
        _thread.interrupt_main()
        threading.Timer(0.05, ends.set).start()

    future = submit(pool, work)
    assert begun.wait(10)
    threading.Timer(0.05, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        close(pool)
    assert future.done()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("closing")]
