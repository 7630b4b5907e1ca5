"""Executors of our own: threads that let a program end, and pools that are replaced when they break."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import pytest

from task_processor import RenewingExecutor, ShutdownError, UnavailableError
from task_processor.event_loop import EventLoopThread
from task_processor.executors import submit
from task_processor.threads import DaemonExecutor
from tests.processor.support import PATIENCE, Gate

if TYPE_CHECKING:
    from collections.abc import Callable


def name(_: object = None) -> str:
    """The name of the thread."""
    return threading.current_thread().name


def test_calls_run_on_named_daemon_threads() -> None:
    """One that is free is used again, and results and errors come back (TM-05)."""
    executor = DaemonExecutor("task-test", 2)
    assert [executor.submit(name).result(PATIENCE) for _ in range(3)] == ["task-test_0"] * 3
    assert executor.submit(lambda: threading.current_thread().daemon).result(PATIENCE) is True
    assert isinstance(executor.submit(lambda: 1 / 0).exception(PATIENCE), ZeroDivisionError)
    assert executor.submit(pow, 2, exp=3).result(PATIENCE) == 8
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(name)


def test_no_more_threads_than_allowed() -> None:
    """Further calls wait for their turn, in order (BU-11)."""
    executor = DaemonExecutor("task-test", 2)
    done: list[int] = []
    with Gate() as gate:
        blocked = [executor.submit(gate.pass_through) for _ in range(2)]
        gate.wait()
        gate.wait()
        waiting = [executor.submit(done.append, number) for number in range(50)]
        assert done == []
    wait([*blocked, *waiting], PATIENCE)
    assert sorted(done) == list(range(50))
    executor.shutdown()


def test_every_waiting_call_gets_a_thread_as_long_as_there_are_some() -> None:
    """Calls that wait for each other do not wait for ever (BU-B6)."""
    executor = DaemonExecutor("task-test", 8)
    barrier = threading.Barrier(8)
    assert sorted(executor.map(lambda _: barrier.wait(PATIENCE), range(8))) == list(range(8))
    executor.shutdown()


def test_shutdown_waits_for_calls_or_cancels_them() -> None:
    """What was taken is done, unless it is told otherwise (CS-21)."""
    executor = DaemonExecutor("task-test", 1)
    with Gate() as gate:
        running = executor.submit(gate.pass_through)
        gate.wait()
        waiting = executor.submit(name)
        executor.shutdown(wait=False, cancel_futures=True)
        with pytest.raises(CancelledError):
            waiting.result(PATIENCE)
    assert running.result(PATIENCE) is None
    other = DaemonExecutor("task-test", 1)
    futures = [other.submit(name) for _ in range(3)]
    other.shutdown()
    assert all(future.done() for future in futures)


def test_a_closed_event_loop_takes_nothing() -> None:
    """Nothing is begun that nobody would end, and no coroutine is left behind (TM-25)."""
    loop = EventLoopThread("task-test-loop")
    assert loop.run(_answer()) == "answer"
    loop.close()
    with pytest.raises(ShutdownError):
        loop.submit(_answer())
    assert not any(thread.name == "task-test-loop" for thread in threading.enumerate())


async def _answer() -> str:
    return "answer"


def test_a_call_that_hangs_does_not_keep_the_program() -> None:
    """The standard library's threads would (TM-B6)."""
    program = "import threading; from task_processor.threads import DaemonExecutor\n"
    program += "DaemonExecutor('x').submit(threading.Event().wait)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE, env=os.environ)  # noqa: S603


class Fragile(Executor):
    """Breaks when it is told to."""

    def __init__(self) -> None:
        self.broken = False
        self.together = threading.Barrier(2)
        self.closed: list[bool] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it here."""
        if self.broken:
            self.together.wait(PATIENCE)
            raise BrokenExecutor
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Remember."""
        assert cancel_futures is False
        self.closed.append(wait)


def test_a_broken_executor_is_replaced() -> None:
    """Made when it is first needed, and once for all who find it broken (TM-19)."""
    made: list[Fragile] = []

    def factory() -> Fragile:
        made.append(Fragile())
        return made[-1]

    executor = RenewingExecutor(factory)
    assert made == []
    assert executor.submit(pow, 2, 3).result(PATIENCE) == 8
    made[0].broken = True
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: executor.submit(pow, 2, 3).result(PATIENCE), range(2))) == [8] * 2
    assert (len(made), made[0].closed) == (2, [False])
    executor.shutdown()
    assert made[1].closed == [True]
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(name)


@pytest.mark.parametrize("how", ["broken", "closed"])
def test_an_executor_that_takes_no_work_is_unavailable(how: str) -> None:
    """Told apart from errors of the work (TM-19)."""
    executor: Executor
    if how == "broken":
        executor = fragile = Fragile()
        fragile.broken = True
        fragile.together = threading.Barrier(1)
    else:
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
    with pytest.raises(UnavailableError, match="takes no more work"):
        submit(executor, name)
