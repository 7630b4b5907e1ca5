"""Managers on a machine that has no thread left for them, or whose user interrupts it while they start."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, TaskRepository, TaskState
from task_processor import TaskManager, each
from tests.backends.steps import push, states
from tests.processor.support import LONG, MOMENT, PATIENCE, PlainHandler, Recorder, running

if TYPE_CHECKING:
    from datetime import timedelta

    from task_api import Task
    from tests.backends import Backend

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.usefixtures("no_thread_is_left")]
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)


def no_threads(monkeypatch: pytest.MonkeyPatch, name: str, number: int = 1_000) -> None:
    """Let so many starts of threads of a name fail, as the system does that has none left."""
    start, refused = threading.Thread.start, list[str]()

    def limited(self: threading.Thread) -> None:
        if self.name.startswith(name) and len(refused) < number:
            refused.append(self.name)
            message = "can't start new thread"
            raise RuntimeError(message)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", limited)


def at_once(_: timedelta, __: int, ___: timedelta) -> timedelta:
    """Wait for a moment only."""
    return MOMENT


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_handler_without_a_thread_is_waited_for(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """What was polled for it is given back, which is reported, and polled again (TM-B3, TM-20)."""
    push(backend, repository, topic, "a", "b")
    no_threads(monkeypatch, "task-handler", 2)
    monkeypatch.setattr("task_processor.loop.backoff_delay", at_once)
    recorder = Recorder()
    options: Any = {"claim": Claim.TRANSACTION, "ahead": ahead, "size": 1, "listener": recorder}
    with running(backend, repository, each(lambda _: None), **options) as manager:
        recorder.wait("complete", 2)
        assert manager.active
    assert [str(error) for error in recorder.wait("fatal", 2)] == ["can't start new thread"] * 2
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


@claims
@pytest.mark.parametrize("ahead", [1, 3])
def test_a_manager_without_further_threads_polls_by_itself(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch, *, claim: Claim, ahead: int
) -> None:
    """It is reported, and the work is done, one batch after the other (TM-21)."""
    push(backend, repository, topic, *"abcd")
    no_threads(monkeypatch, "task-poller")
    recorder = Recorder()
    options: Any = {"claim": claim, "ahead": ahead, "size": 1, "listener": recorder}
    with running(backend, repository, each(lambda _: None), **options) as manager:
        recorder.wait("complete", 4)
        assert manager.active
    assert str(recorder.wait("fatal")[0]) == "can't start new thread"
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_a_start_that_is_interrupted_is_none(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever had begun ends; the next start is alone (TM-B2)."""
    push(backend, repository, topic, "a")
    recorder, begun = Recorder(), threading.Event()
    done: list[Task] = []
    manager = TaskManager(topic, repository, backend.begin, each(done.append), listener=recorder, pause=LONG)
    start = threading.Thread.start

    def interrupted(self: threading.Thread) -> None:
        start(self)
        if self.name.startswith("task-manager") and not begun.is_set():
            begun.set()
            recorder.wait("empty")
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        manager.start()
    before = len(done)
    push(backend, repository, topic, "b")
    assert manager.start() is True
    manager.resume()
    recorder.wait("complete", 2)
    manager.stop()
    assert (before, len(done)) == (1, 2)
    assert not manager.active


def test_a_start_that_is_interrupted_while_the_handler_is_made_is_none(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler is made to its end, and closed; nothing is polled (TM-B2)."""
    push(backend, repository, topic, "a")
    started, interrupted, closed = threading.Event(), threading.Event(), threading.Event()
    start, main = threading.Thread.start, threading.get_ident()

    def tell(self: threading.Thread) -> None:
        start(self)
        started.set()

    class Closing(PlainHandler):
        def close(self) -> None:
            closed.set()

    def interrupt(*_: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    def factory(_: str) -> PlainHandler:
        assert started.wait(PATIENCE)
        # Again and again, because one that comes right before a wait is heard only after it.
        while not interrupted.wait(MOMENT.total_seconds()):
            signal.pthread_kill(main, signal.SIGINT)
        return Closing(lambda *_: None)

    monkeypatch.setattr(threading.Thread, "start", tell)
    manager = TaskManager(topic, repository, backend.begin, factory, pause=LONG)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            manager.start()
    finally:
        signal.signal(signal.SIGINT, before)
    assert closed.wait(PATIENCE)
    assert manager.stop() in (True, False)
    assert not manager.active
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}
