"""How a worker stops: signals, grace, and work that does not end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskState
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    ShutdownError,
    TaskManager,
    Worker,
    batch,
    each,
)
from task_processor.loop import PollLoop
from tests.backends.steps import info, poll, push, states
from tests.processor.support import BRISK, LONG, MOMENT, PATIENCE, Gate, PlainHandler, Recorder, eventually, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from task_processor import Callback, TaskHandlerFactory
    from tests.backends import Backend, Transaction

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.usefixtures("no_thread_is_left")]
Repository = TaskRepository[Any]
ROOT = Path(__file__).resolve().parent.parent.parent
claims = pytest.mark.parametrize("claim", Claim)
FORMS: dict[str, Callable[[Callable[[Task], None]], TaskHandlerFactory]] = {
    "each": each,
    "buffering": lambda fn: BufferingTaskHandlerFactory(each(fn), buffer=2, workers=1),
    "composite": lambda fn: CompositeTaskHandlerFactory(concurrency=0).each("step", fn),
}


def worker_of(
    backend: Backend,
    repository: Repository,
    factory: TaskHandlerFactory,
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[Worker[Any], TaskManager[Any]]:
    """A worker, started, and its manager."""
    manager = TaskManager("topic", repository, backend.begin, factory, **{"pause": LONG, **(options or {})})
    worker = Worker(repository, backend.begin, [manager], **{**BRISK, **settings})
    worker.start()
    return worker, manager


@claims
@pytest.mark.parametrize("form", FORMS)
def test_work_is_finished_within_the_grace(
    backend: Backend, repository: Repository, topic: str, claim: Claim, form: str
) -> None:
    """Nothing more is polled, what was begun is decided, and the owner beats until then (TM-03, TM-B6, OW-03)."""
    tasks = push(backend, repository, topic, "a", "b", "c", "d", "e")
    with Gate() as gate:
        worker, manager = worker_of(backend, repository, FORMS[form](gate.pass_through), {"size": 1, "claim": claim})
        gate.wait()
        stopping = threading.Thread(target=worker.stop)
        stopping.start()
        eventually(lambda: not worker.health.alive)
        # Under a transactional claim on SQLite nobody can write, not even a heartbeat.
        if (backend.name, claim) != ("sqlite", Claim.TRANSACTION):
            other = backend.repository("other")

            def beaten() -> bool:
                with backend.begin() as tx:
                    return other.owners(tx, timedelta(minutes=1)) == {"me"}

            backend.age_owner("me", 7200)
            eventually(beaten)
        gate.open()
        stopping.join(PATIENCE)
    assert (worker.active, manager.active, manager.statistics.errors) == (False, False, 0)
    found = states(backend, repository, topic)
    assert found[tasks[0].sequence] is TaskState.SUCCEEDED
    assert found[tasks[-1].sequence] is TaskState.READY
    assert TaskState.ACTIVE not in found.values()


@claims
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_finished_in_time_is_given_back(
    backend: Backend, repository: Repository, topic: str, claim: Claim, form: str
) -> None:
    """READY, no attempt counted, open to others at once; the result that comes too late is dropped (P2, TM-B6)."""
    tasks = push(backend, repository, topic, "a", "b")
    other, recorder = backend.repository("other"), Recorder()
    with Gate() as gate:
        options = {"claim": claim, "listener": recorder}
        factory = FORMS[form](gate.pass_through)
        worker, manager = worker_of(backend, repository, factory, options, grace=timedelta(milliseconds=100))
        gate.wait()
        try:
            worker.stop()
        except TimeoutError as error:
            assert str(error) == "given back, yet still at work: 'topic'"  # noqa: PT017 - not all of them raise
        assert worker.active is False
        assert all(info(backend, repository, topic, task).attempt == 0 for task in tasks)
        assert len(poll(backend, other, topic, 2)) == 2
        gate.open()
        eventually(lambda: not manager.active)
    assert {info(backend, repository, topic, task).owner for task in tasks} == {"other"}
    assert isinstance(recorder.errors[0], ShutdownError)
    assert "complete" not in recorder.names()


def test_a_shorter_grace_can_be_chosen(backend: Backend, repository: Repository, topic: str) -> None:
    """The time limit of a stop replaces the worker's grace (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    with Gate() as gate:
        worker, _ = worker_of(backend, repository, each(gate.pass_through), grace=LONG)
        gate.wait()
        with pytest.raises(TimeoutError, match="still at work"):
            worker.stop(MOMENT)
        assert info(backend, repository, topic, task).state is TaskState.READY


def test_an_error_inside_a_block_is_not_hidden(backend: Backend, repository: Repository, topic: str) -> None:
    """Work that does not end is logged, and the error raised (DESIGN 5)."""
    push(backend, repository, topic, "a")
    with Gate() as gate:
        manager = TaskManager(topic, repository, backend.begin, each(gate.pass_through), pause=LONG)

        def fail() -> None:
            with Worker(repository, backend.begin, [manager], grace=timedelta()):
                gate.wait()
                raise LookupError

        with pytest.raises(LookupError):
            fail()


@claims
def test_a_handler_that_never_answers_does_not_keep_its_tasks(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Its slot, its transaction and its tasks are free once the manager has ended (TM-15, TM-25, P1)."""
    push(backend, repository, topic, "a", "b")
    recorder = Recorder()
    late: list[Callback] = []

    def forget(_: Sequence[Task], callback: Callback, __: object) -> None:
        late.append(callback)

    with running(
        backend, repository, lambda _: PlainHandler(forget), listener=recorder, claim=claim, size=2
    ) as manager:
        recorder.wait("start")
        eventually(lambda: late)
        if claim is Claim.TRANSACTION:
            with pytest.raises(TimeoutError):
                manager.stop(MOMENT)
            assert manager.abandon() == 2
        manager.stop()
    assert recorder.names() == (
        ["start", "dispatched", "error"] if claim is Claim.COMMITTED else ["start", "error", "dispatched"]
    )
    assert isinstance(recorder.errors[0], ShutdownError)
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}
    assert late[0](lambda _: {}) is False


def test_a_handler_that_does_not_return_does_not_keep_the_loop(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A transactional batch that was decided stays so, and the loop ends (TM-03, TM-B7)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    with Gate() as gate:

        def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
            assert callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS)) is True
            gate.pass_through()

        with running(
            backend, repository, lambda _: PlainHandler(handle), listener=recorder, claim=Claim.TRANSACTION
        ) as manager:
            gate.wait()
            recorder.wait("complete")
            with pytest.raises(TimeoutError):
                manager.stop(MOMENT)
            assert manager.abandon() == 0
            manager.stop()
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_a_hung_transaction_can_be_given_up_without_a_stop(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """The handler keeps its thread, and the next batch gets another one (TM-B6, TM-B7)."""
    [task] = push(backend, repository, topic, "a")
    recorder, names = Recorder(), list[str]()
    with Gate() as gate:

        def work(_: Task) -> None:
            names.append(threading.current_thread().name)
            if len(names) == 1:
                gate.pass_through()

        with running(backend, repository, each(work), listener=recorder, claim=Claim.TRANSACTION) as manager:
            gate.wait()
            assert manager.abandon() == 1
            recorder.wait("complete")
            assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    assert recorder.names() == ["start", "error", "dispatched", "start", "callback", "complete", "dispatched"]
    assert names == ["task-handler-topic_0"] * 2


def test_a_hung_transaction_may_be_given_up_twice(backend: Backend, repository: Repository, topic: str) -> None:
    """Also before it is rolled back: the handler keeps its thread all the same (TM-B7)."""
    push(backend, repository, topic, "a")
    recorder, worked = Recorder(), list[str]()
    with Gate() as gate, Gate() as rollback:

        @contextmanager
        def begin() -> Iterator[Transaction]:
            with backend.begin() as tx:
                try:
                    yield tx
                except ShutdownError:
                    rollback.pass_through()
                    raise

        def work(task: Task) -> None:
            worked.append(task.identifier)
            if len(worked) == 1:
                gate.pass_through()

        options: Any = {"listener": recorder, "claim": Claim.TRANSACTION, "pause": LONG}
        manager = TaskManager(topic, repository, begin, each(work), **options)
        manager.start()
        gate.wait()
        assert manager.abandon() == 1
        rollback.wait()
        assert manager.abandon() == 0
        rollback.open()
        recorder.wait("complete")
        manager.stop()
    assert worked == ["a", "a"]


def test_a_decision_that_hangs_is_given_back(backend: Backend, repository: Repository, topic: str) -> None:
    """Its transaction finds its tasks lost and rolls back, effects included (P2, TM-B6)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()
    with Gate() as gate:

        def handle(tasks: Sequence[Task], callback: Callback, _: object) -> None:
            def complete(tx: Transaction) -> dict[Task, TaskDecision]:
                gate.pass_through()
                repository.push(tx, topic, "effect")
                return dict.fromkeys(tasks, TaskDecision.SUCCESS)

            callback(complete)

        with running(backend, repository, lambda _: PlainHandler(handle), listener=recorder) as manager:
            gate.wait()
            with pytest.raises(TimeoutError):
                manager.stop(MOMENT)
            assert manager.abandon() == 1
            stored = info(backend, repository, topic, task)
            assert (stored.state, stored.attempt) == (TaskState.READY, 0)
            gate.open()
            manager.stop()
    assert recorder.names() == ["start", "callback", "lost", "dispatched"]
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}


def test_signals_end_a_run_and_are_given_back(backend: Backend, repository: Repository, topic: str) -> None:
    """In the main thread SIGTERM and SIGINT stop the worker, and do as before afterwards (DESIGN 5)."""
    for number in (signal.SIGTERM, signal.SIGINT):
        before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
        manager = TaskManager(topic, repository, backend.begin, batch(lambda _: None), pause=LONG)
        worker = Worker(repository, backend.begin, [manager])

        def kill(number: int = number, worker: Worker[Any] = worker) -> None:
            eventually(lambda: worker.healthy)
            os.kill(os.getpid(), number)

        killing = threading.Thread(target=kill)
        killing.start()
        worker.run()
        killing.join(PATIENCE)
        assert (worker.active, manager.active) == (False, False)
        assert {one: signal.getsignal(one) for one in before} == before


def test_a_second_signal_ends_the_grace(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever asks twice does not want to wait (DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    with Gate() as gate:
        manager = TaskManager(topic, repository, backend.begin, each(gate.pass_through), pause=LONG)
        worker = Worker(repository, backend.begin, [manager], grace=LONG)

        def kill() -> None:
            gate.wait()
            eventually(lambda: worker.healthy)
            os.kill(os.getpid(), signal.SIGTERM)
            eventually(lambda: not worker.health.alive)
            os.kill(os.getpid(), signal.SIGTERM)

        killing = threading.Thread(target=kill)
        killing.start()
        worker.run()
        killing.join(PATIENCE)
        assert worker.active is False
        assert info(backend, repository, topic, task).state is TaskState.READY


def test_a_stop_in_the_midst_of_a_start(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may come before there is a thread; nothing runs in the end (TM-03)."""
    manager = TaskManager(topic, repository, backend.begin, each(lambda _: None))
    begin = PollLoop.start

    def start(loop: PollLoop[Any], timeout: float | None) -> bool:
        with pytest.raises(TimeoutError, match="still at work"):
            manager.stop(MOMENT)
        return begin(loop, timeout)

    monkeypatch.setattr(PollLoop, "start", start)
    assert manager.start() is False
    assert (manager.active, manager.stop()) == (False, False)


PROGRAM = r"""
import os, sys, threading
from datetime import timedelta
import task_sql
from task_api import Claim
from task_processor import BufferingTaskHandlerFactory, CompositeTaskHandlerFactory, TaskManager, Worker, each

url, form, claim = sys.argv[1:]

def hang(task):
    os.write(1, b"working\n")
    threading.Event().wait()

factory = {
    "each": each(hang),
    "buffering": BufferingTaskHandlerFactory(each(hang), buffer=1, workers=1),
    "composite": CompositeTaskHandlerFactory().each("step", hang),
}[form]
engine = task_sql.create_engine(url)
repository = task_sql.create_repository(engine)
manager = TaskManager("topic", repository, engine.begin, factory, claim=Claim[claim])
Worker(repository, engine.begin, [manager], grace=timedelta(milliseconds=100)).run()
print("left", flush=True)
"""


@pytest.mark.parametrize(("form", "claim"), [*((form, Claim.COMMITTED) for form in FORMS), ("each", Claim.TRANSACTION)])
def test_a_program_ends_although_its_work_does_not(
    backend: Backend, repository: Repository, topic: str, claim: Claim, form: str
) -> None:
    """No thread of ours keeps the process, and its tasks are free when it is gone (P1, TM-B6, DESIGN 5)."""
    tasks = push(backend, repository, topic, "a", "b")
    paths = [*map(str, [] if "TOPIQ_TEST_INSTALLED" in os.environ else [ROOT]), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", PROGRAM, backend.url, form, claim.name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "working\n"
            process.terminate()
            output, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, output.splitlines()[-1], "Traceback" in errors) == (0, "left", False)
    for task in tasks:
        stored = info(backend, repository, topic, task)
        assert (stored.state, stored.attempt) == (TaskState.READY, 0)
