"""The queue in front of a handler, and the workers behind it."""

from __future__ import annotations

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from task_api import InvalidTaskError, Task, TaskDecision, TaskRepository, TaskState
from task_processor import (
    BufferingTaskHandlerFactory,
    OnClose,
    RetryPolicy,
    ShutdownError,
    TaskManager,
    batch,
    each,
)
from task_processor.handler import HandedOverError
from tests.backends.steps import info, push, states
from tests.processor.support import MOMENT, PATIENCE, Gate, PlainHandler, Recorder, eventually, running

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from task_processor import Callback, Completion, OnFailure, TaskHandler
    from tests.backends import Backend

Repository = TaskRepository[Any]
both = pytest.mark.parametrize("on_close", OnClose)


class Outcomes:
    """What became of batches of one task each, by number."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.succeeded: list[int] = []
        self.failed: dict[int, BaseException] = {}

    def offer(self, handler: TaskHandler, number: int) -> None:
        """Hand a batch over."""

        def callback(completion: Callable[[Any], Any]) -> bool:
            completion(None)
            with self._changed:
                self.succeeded.append(number)
                self._changed.notify_all()
            return True

        def on_failure(error: BaseException) -> bool:
            with self._changed:
                self.failed[number] = error
                self._changed.notify_all()
            return True

        handler((Task(number, str(number)),), callback, on_failure)

    def wait(self, number: int) -> None:
        """Wait until so many have come to an end."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.succeeded) + len(self.failed) >= number, PATIENCE)


def offer_in_background(outcomes: Outcomes, handler: TaskHandler, number: int) -> threading.Thread:
    """Hand a batch over from a thread that may block."""
    thread = threading.Thread(target=outcomes.offer, args=(handler, number))
    thread.start()
    return thread


@pytest.mark.parametrize(("buffer", "workers"), [(0, 1), (2, 1), (1, 3)])
def test_as_many_batches_as_workers_and_places_are_taken(buffer: int, workers: int) -> None:
    """The next one blocks until a worker is free (BU-01, BU-02)."""
    views: list[Collection[Sequence[Task]]] = []
    outcomes = Outcomes()
    with Gate() as gate:
        handler = BufferingTaskHandlerFactory(
            each(gate.pass_through), buffer=buffer, workers=workers, observers=[lambda _, view: views.append(view)]
        )("topic")
        for number in range(workers):
            outcomes.offer(handler, number)
        for _ in range(workers):
            gate.wait()
        for number in range(workers, workers + buffer):
            outcomes.offer(handler, number)
        blocked = offer_in_background(outcomes, handler, workers + buffer)
        blocked.join(0.05)
        assert blocked.is_alive()
        assert [task.sequence for [task] in views[0]] == list(range(workers, workers + buffer))
        gate.open()
        blocked.join(PATIENCE)
        handler.close()
    assert sorted(outcomes.succeeded) == list(range(workers + buffer + 1))


def test_each_worker_has_a_handler_of_its_own_which_is_closed() -> None:
    """Handlers need not be safe for several threads, and are closed when their worker ends (BU-01, BU-B1)."""
    handlers: list[PlainHandler] = []

    def factory(_: str) -> PlainHandler:
        handlers.append(PlainHandler(lambda *_: None))
        return handlers[-1]

    handler = BufferingTaskHandlerFactory(factory, buffer=1, workers=3)("topic")
    assert len(handlers) == 3
    handler.close()
    assert [delegate.closed for delegate in handlers] == [1, 1, 1]


def test_handlers_made_before_one_that_can_not_be_are_closed() -> None:
    """An error of the inner factory leaves nothing behind (TM-24, BU-B1)."""
    handlers: list[PlainHandler] = []

    def factory(_: str) -> PlainHandler:
        if handlers:
            raise LookupError
        handlers.append(PlainHandler(lambda *_: None))
        return handlers[-1]

    with pytest.raises(LookupError):
        BufferingTaskHandlerFactory(factory, buffer=1, workers=2)("topic")
    assert [delegate.closed for delegate in handlers] == [1]


def test_a_worker_goes_on_after_an_error() -> None:
    """The batch fails, and only closing ends workers, whatever the work raises (BU-03, BU-B4)."""

    def fail(*_: object) -> None:
        raise errors.pop()

    errors: list[BaseException] = [ValueError(), KeyboardInterrupt(), SystemExit()]
    handler = BufferingTaskHandlerFactory(lambda _: PlainHandler(fail), buffer=1, workers=1)("topic")
    outcomes = Outcomes()
    for number in range(3):
        outcomes.offer(handler, number)
    outcomes.wait(3)
    assert [type(error) for error in outcomes.failed.values()] == [SystemExit, KeyboardInterrupt, ValueError]
    handler.close()


@both
def test_closing_lets_running_work_finish(on_close: OnClose) -> None:
    """What has begun is never interrupted, and closing waits for it (BU-05, BU-B3, BU-B5)."""
    outcomes = Outcomes()
    with Gate() as gate:
        handler = BufferingTaskHandlerFactory(each(gate.pass_through), buffer=0, workers=1, on_close=on_close)("topic")
        outcomes.offer(handler, 1)
        gate.wait()
        closing = threading.Thread(target=handler.close)
        closing.start()
        closing.join(0.05)
        assert closing.is_alive()
        gate.open()
        closing.join(PATIENCE)
    assert (outcomes.succeeded, outcomes.failed) == ([1], {})


@both
def test_closing_decides_about_batches_that_wait(on_close: OnClose) -> None:
    """They fail with a shutdown error without being called, or are finished (BU-06, BU-07, BU-08, BU-B2)."""
    outcomes = Outcomes()
    called = []
    with Gate() as gate:

        def work(task: Task) -> None:
            called.append(task.sequence)
            gate.pass_through()

        handler = BufferingTaskHandlerFactory(each(work), buffer=1, workers=1, on_close=on_close)("topic")
        outcomes.offer(handler, 1)
        gate.wait()
        outcomes.offer(handler, 2)
        blocked = offer_in_background(outcomes, handler, 3)
        blocked.join(0.05)
        closing = threading.Thread(target=handler.close)
        closing.start()
        if on_close is OnClose.FAIL_PENDING:
            outcomes.wait(2)
        gate.open()
        closing.join(PATIENCE)
        blocked.join(PATIENCE)
        assert not closing.is_alive()
    if on_close is OnClose.FAIL_PENDING:
        assert (called, outcomes.succeeded, sorted(outcomes.failed)) == ([1], [1], [2, 3])
        assert {type(error) for error in outcomes.failed.values()} == {ShutdownError}
    else:
        assert (called, outcomes.succeeded, outcomes.failed) == ([1, 2, 3], [1, 2, 3], {})


def test_a_closed_handler_takes_nothing() -> None:
    """A batch that comes too late fails instead of waiting for ever (BU-06, BU-B4)."""
    handler = BufferingTaskHandlerFactory(each(lambda _: None), buffer=9, workers=2)("topic")
    handler.close()
    outcomes = Outcomes()
    outcomes.offer(handler, 1)
    assert isinstance(outcomes.failed[1], ShutdownError)


def test_an_idle_handler_closes_at_once() -> None:
    """Workers that wait without end are woken by closing (BU-04, BU-05)."""
    handler = BufferingTaskHandlerFactory(each(lambda _: None), buffer=1, workers=2)("topic")
    closing = threading.Thread(target=handler.close)
    closing.start()
    closing.join(PATIENCE)
    assert not closing.is_alive()


def test_baggage_travels_with_the_batch() -> None:
    """What is captured where the batch is taken is there where it is worked on (BU-09)."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    unpacked: list[str] = []
    seen = []

    def pack() -> Callable[[], object]:
        name = threading.current_thread().name
        return lambda: unpacked.append(name)

    handler = BufferingTaskHandlerFactory(
        each(lambda _: seen.append((variable.get(), len(unpacked)))), buffer=5, workers=1, baggage=pack
    )("topic")
    outcomes = Outcomes()
    for number in (1, 2):
        variable.set(f"batch {number}")
        outcomes.offer(handler, number)
    handler.close()
    assert seen == [("batch 1", 1), ("batch 2", 2)]
    assert set(unpacked) == {threading.current_thread().name}


def test_observers_get_a_live_view_once() -> None:
    """All of them see the queue of each handler, read-only, and their errors affect nothing (BU-10)."""
    seen: list[tuple[str, int]] = []

    def broken(_: str, __: object) -> None:
        raise ValueError

    def note(topic: str, view: Collection[Sequence[Task]]) -> None:
        seen.append((topic, len(view)))

    factory = BufferingTaskHandlerFactory(each(lambda _: None), buffer=1, workers=1, observers=[note, broken, note])
    factory("a").close()
    factory("b").close()
    assert seen == [("a", 0)] * 2 + [("b", 0)] * 2


@pytest.mark.parametrize(("buffer", "workers"), [(-1, 1), (1, 0)])
def test_wrong_numbers_are_refused(buffer: int, workers: int) -> None:
    """A handler without workers would never do anything (BU-01)."""
    with pytest.raises(InvalidTaskError):
        BufferingTaskHandlerFactory(each(lambda _: None), buffer=buffer, workers=workers)


@pytest.mark.kinds("driver")
def test_batches_are_worked_on_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Three workers hold three batches at the same time, and all are decided (BU-01, BU-02)."""
    tasks = push(backend, repository, topic, *map(str, range(9)))
    recorder = Recorder()
    together = threading.Barrier(3)

    def meet(_: Sequence[Task]) -> None:
        together.wait(PATIENCE)

    factory = BufferingTaskHandlerFactory(batch(meet), buffer=2, workers=3)
    with running(backend, repository, factory, listener=recorder, size=1):
        recorder.wait("complete", 9)
    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED for task in tasks}


@pytest.mark.kinds("driver")
def test_more_workers_than_threads_of_the_executor(backend: Backend, repository: Repository, topic: str) -> None:
    """Functions queue up for the executor, and closing works properly (BU-11, BU-B6)."""
    push(backend, repository, topic, *map(str, range(9)))
    recorder = Recorder()
    names = set()
    with ThreadPoolExecutor(1, thread_name_prefix="mine") as executor:
        work = each(lambda _: names.add(threading.current_thread().name))
        factory = BufferingTaskHandlerFactory(work, buffer=1, workers=4, executor=executor)
        with running(backend, repository, factory, listener=recorder, size=2, executor=executor):
            recorder.wait("complete", 5)
    assert names == {"mine_0"}


@pytest.mark.kinds("driver")
@both
def test_stopping_a_manager_closes_its_buffer(
    backend: Backend, repository: Repository, topic: str, on_close: OnClose
) -> None:
    """Nothing stays ACTIVE: what waits is finished or failed before stop returns (BU-06, BU-07, TM-25)."""
    push(backend, repository, topic, "a", "b")
    recorder = Recorder()
    with Gate() as gate:
        factory = BufferingTaskHandlerFactory(each(gate.pass_through), buffer=1, workers=1, on_close=on_close)
        manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder, size=1)
        manager.start()
        gate.wait()
        recorder.wait("dispatched", 2)
        stopping = threading.Thread(target=manager.stop)
        stopping.start()
        if on_close is OnClose.FAIL_PENDING:
            recorder.wait("error")
        gate.open()
        stopping.join(PATIENCE)
    second = TaskState.FAILED if on_close is OnClose.FAIL_PENDING else TaskState.SUCCEEDED
    assert list(states(backend, repository, topic).values()) == [TaskState.SUCCEEDED, second]


def test_decisions_reach_the_callback() -> None:
    """The delegate speaks to the batch itself (BU-02)."""
    decided: list[object] = []

    def handle(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        callback(lambda _: dict.fromkeys(tasks, TaskDecision.FILTER))

    handler = BufferingTaskHandlerFactory(lambda _: PlainHandler(handle), buffer=1, workers=1)("topic")
    task = Task(1, "a")

    def callback(completion: Completion) -> bool:
        decided.append(completion(None))
        return True

    handler((task,), callback, lambda _: False)
    handler.close()
    assert decided == [{task: TaskDecision.FILTER}]


@pytest.mark.kinds("driver")
def test_what_was_given_back_in_the_queue_is_not_begun(backend: Backend, repository: Repository, topic: str) -> None:
    """Others may have it by then (BU-06, P1)."""
    push(backend, repository, topic, "a", "b", "c")
    begun: list[str] = []
    with Gate() as gate:

        def work(task: Task) -> None:
            begun.append(task.identifier)
            gate.pass_through()

        factory = BufferingTaskHandlerFactory(each(work), buffer=1, workers=1)
        with running(backend, repository, factory, size=1) as manager:
            gate.wait()
            # The third one waits for a place.
            eventually(lambda: manager.statistics.batches == 3)
            with pytest.raises(TimeoutError):
                manager.stop(MOMENT)
            assert manager.abandon() == 3
            gate.open()
    assert begun == ["a"]
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}


@pytest.mark.kinds("driver")
def test_what_was_handed_over_is_left_to_its_holder(backend: Backend, repository: Repository, topic: str) -> None:
    """As without a buffer: decisions are stored, and what has none is given back (BU-03, P2)."""
    tasks = push(backend, repository, topic, "held", "done", "left")
    other, recorder, policies = backend.repository("other"), Recorder(), list[RetryPolicy]()
    retry = RetryPolicy(3)

    class Handler(PlainHandler):
        def use_retry(self, retry: RetryPolicy) -> None:
            policies.append(retry)

    def handle(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        if len(tasks) < 3:
            callback(lambda _: dict.fromkeys(tasks, TaskDecision.SUCCESS))
            return
        with backend.begin() as tx:
            other.eject(tx, topic, tasks[0])
        raise HandedOverError(tasks[:1], {tasks[1]: TaskDecision.success("at once")})

    factory = BufferingTaskHandlerFactory(lambda _: Handler(handle), buffer=0, workers=1)
    with running(backend, repository, factory, listener=recorder, retry=retry, pause=MOMENT):
        recorder.wait("complete", 2)
    found = [info(backend, repository, topic, task) for task in tasks]
    assert [task.state for task in found] == [TaskState.ACTIVE, TaskState.SUCCEEDED, TaskState.SUCCEEDED]
    assert [(task.owner, task.output, task.attempt) for task in found[:2]] == [
        ("other", None, 1),
        ("me", "at once", 1),
    ]
    assert not {"error", "lost"} & set(recorder.names())
    assert policies == [retry]
