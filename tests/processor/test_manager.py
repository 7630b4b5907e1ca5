"""The manager's life: start, stop, pause, resume, and what it tells its listener."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, InvalidTaskError, Order, Task, TaskDecision, TaskRepository, TaskState
from task_processor import BufferingTaskHandlerFactory, TaskLimiter, TaskListener, TaskManager, batch, each
from task_processor.listener import Reporter
from task_processor.transactional import TransactionalBatch
from task_processor.work import Work
from tests.backends.steps import info, push, states
from tests.processor.support import BATCH, LONG, PATIENCE, Gate, PlainHandler, Recorder, eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_processor import TaskHandler, TaskToken
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
MOMENT = timedelta(milliseconds=1)
claims = pytest.mark.parametrize("claim", Claim)


@pytest.fixture
def recorder() -> Recorder:
    """A listener that remembers."""
    return Recorder()


def nothing(_: Task) -> None:
    """Succeed."""


def managers() -> list[threading.Thread]:
    """The threads that managers run on."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("task-manager")]


@claims
def test_start_and_stop_tell_whether_they_did_something(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """A second start or stop changes nothing; a stopped manager can be started again (TM-01, TM-03, TM-04, TM-05)."""
    handlers: list[PlainHandler] = []

    def factory(_: str) -> PlainHandler:
        handlers.append(PlainHandler(lambda tasks, callback, _: callback(lambda _: dict.fromkeys(tasks, "ok"))))
        return handlers[-1]

    manager = TaskManager(topic, repository, backend.begin, factory, pause=LONG, claim=claim)
    assert (manager.active, manager.topic, manager.stop(), manager.resume()) == (False, topic, False, False)
    for number in (1, 2):
        assert (manager.start(), manager.active, manager.start()) == (True, True, False)
        assert (manager.resume(), manager.stop(), manager.active, manager.stop()) == (True, True, False, False)
        assert [handler.closed for handler in handlers] == [1] * number


def test_initialize_starts_and_shutdown_stops(backend: Backend, repository: Repository, topic: str) -> None:
    """Both answer true, also a second time, and nothing is known to be stored (TM-28)."""
    manager = TaskManager(topic, repository, backend.begin, each(nothing), pause=LONG)
    assert (manager.initialize(), manager.active, manager.initialize()) == (True, True, True)
    assert (manager.shutdown(), manager.active, manager.shutdown()) == (True, False, True)
    assert manager.activation is None


def test_a_start_that_takes_too_long_never_runs(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """The time-out is an error, the handler is closed once it is there, nothing is polled (TM-02, TM-B2)."""
    [task] = push(backend, repository, topic, "a")
    closed = threading.Event()
    handler = PlainHandler(lambda *_: None)
    handler.close = closed.set  # type: ignore[method-assign]
    with Gate() as gate:

        def factory(_: str) -> PlainHandler:
            gate.pass_through()
            return handler

        manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder)
        with pytest.raises(TimeoutError, match="no handler was made"):
            manager.start(MOMENT)
        assert manager.active is False
    assert closed.wait(PATIENCE)
    assert (manager.active, recorder.names(), info(backend, repository, topic, task).state) == (
        False,
        [],
        TaskState.READY,
    )


def test_a_start_that_took_too_long_leaves_the_next_one_alone(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """Its late handler is closed, and what another run works on is not given back (TM-02, TM-B2, P2)."""
    [task] = push(backend, repository, topic, "a")
    late, handlers = PlainHandler(lambda *_: None), list[PlainHandler]()
    with Gate() as making, Gate() as working:

        def factory(topic: str) -> TaskHandler:
            if not handlers:
                handlers.append(late)
                making.pass_through()
                return late
            return each(working.pass_through)(topic)

        manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder, pause=LONG)
        with pytest.raises(TimeoutError):
            manager.start(MOMENT)
        making.wait()
        [first] = managers()
        assert manager.start() is True
        working.wait()
        making.open()
        first.join(PATIENCE)
        assert (late.closed, manager.statistics.batches) == (1, 1)
        working.open()
        recorder.wait("complete")
        manager.stop()
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]
    assert info(backend, repository, topic, task).attempt == 1


@claims
def test_stop_finishes_the_batch_under_way(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Too long is an error, yet the work is neither interrupted nor lost, and the loop ends (TM-03, TM-05, TM-B6)."""
    push(backend, repository, topic, "a", "b")
    with Gate() as gate:
        manager = TaskManager(
            topic, repository, backend.begin, each(gate.pass_through), listener=recorder, size=1, claim=claim
        )
        manager.start()
        gate.wait()
        with pytest.raises(TimeoutError, match="still at work"):
            manager.stop(MOMENT)
        assert manager.active is True
        gate.open()
        manager.stop()
    assert manager.active is False
    assert list(states(backend, repository, topic).values()) == [TaskState.SUCCEEDED, TaskState.READY]


@claims
@pytest.mark.parametrize("form", ["loop", "buffered", "executor"])
def test_work_can_stop_its_own_manager(
    backend: Backend, repository: Repository, topic: str, claim: Claim, form: str
) -> None:
    """It does not wait for itself, on whatever thread it runs (TM-03)."""
    [task, _] = push(backend, repository, topic, "a", "b")
    factory = each(lambda _: str(manager.stop()))
    if form == "buffered":
        factory = BufferingTaskHandlerFactory(factory, buffer=0, workers=1)
    with ThreadPoolExecutor(1) as pool:
        executor = pool if form == "executor" else None
        manager = TaskManager(topic, repository, backend.begin, factory, size=1, claim=claim, executor=executor)
        manager.start()
        eventually(lambda: not manager.active)
    stored = info(backend, repository, topic, task)
    assert (stored.state, stored.output) == (TaskState.SUCCEEDED, "True")


@claims
def test_what_was_polled_during_a_stop_is_not_begun(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """It is given back at once, as nobody wants to wait for it (TM-03, TM-B6, P1)."""
    push(backend, repository, topic, "a", "b")

    class Stopping:
        """Asks the manager to stop while it polls."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def poll_many(self, *arguments: Any, **options: Any) -> list[Task]:
            """Ask, and poll."""
            with suppress(TimeoutError), ThreadPoolExecutor(1) as other:
                other.submit(manager.stop, MOMENT).result(PATIENCE)
            return repository.poll_many(*arguments, **options)

    source: Any = Stopping()
    limiter = TaskLimiter.bounded(1)
    manager = TaskManager(
        topic, source, backend.begin, each(nothing), listener=recorder, limiter=limiter, claim=claim, pause=LONG
    )
    manager.start()
    eventually(lambda: not manager.active)
    assert recorder.names() == []
    assert {
        info(backend, repository, topic, Task(number, "")).attempt for number in states(backend, repository, topic)
    } == {0}
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}
    assert limiter.request(topic).wait(0) is True


def test_polls_are_made_as_configured(backend: Backend, repository: Repository, topic: str, recorder: Recorder) -> None:
    """Order, size and condition reach the source, each poll in a transaction of its own (TM-06, TM-07, TM-B1)."""
    push(backend, repository, topic, "a", "b", "a", "c")
    options: dict[str, Any] = {
        "order": Order.LAST_IN_FIRST_OUT,
        "size": 2,
        "condition": Condition.SINGULAR_BY_IDENTIFIER,
        "lease": timedelta(minutes=5),
    }
    leases = []

    def look(task: Task) -> None:
        leases.append(info(backend, repository, topic, task).lease is not None)

    with running(backend, repository, each(look), listener=recorder, **options):
        recorder.wait("empty")
    batches = [[task.identifier for task in tasks] for tasks in recorder.wait("start")]
    assert batches == [["c", "a"], ["b", "a"]]
    assert leases == [True] * 4


def test_a_pause_ends_by_itself(backend: Backend, repository: Repository, topic: str, recorder: Recorder) -> None:
    """An empty topic is looked at again after the pause (TM-06, TM-09)."""
    with running(backend, repository, each(nothing), listener=recorder, pause=MOMENT):
        recorder.wait("empty", 3)
        push(backend, repository, topic, "a")
        recorder.wait("complete")


def test_resume_ends_a_pause(backend: Backend, repository: Repository, topic: str, recorder: Recorder) -> None:
    """What was pushed is worked on at once (TM-08)."""
    with running(backend, repository, each(nothing), listener=recorder) as manager:
        recorder.wait("empty")
        push(backend, repository, topic, "a")
        assert manager.resume() is True
        recorder.wait("complete")


def test_resume_during_a_poll_is_not_lost(backend: Backend, repository: Repository, topic: str) -> None:
    """A request that comes before the pause begins ends it (TM-B4)."""
    push_once = iter([True])

    class Pushing(Recorder):
        def on_empty(self, topic: str) -> None:
            """Push and resume between the poll and the pause."""
            if next(push_once, False):
                push(backend, repository, topic, "a")
                manager.resume()
            super().on_empty(topic)

    listener = Pushing()
    manager = TaskManager(topic, repository, backend.begin, each(nothing), listener=listener, pause=LONG)
    manager.start()
    listener.wait("complete")
    manager.stop()


def test_an_error_of_the_limiter_ends_the_loop(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """It is reported, the handler is closed, the manager no longer runs (TM-22, TM-25)."""

    class Failing(TaskLimiter):
        def request(self, topic: str) -> TaskToken:
            """Fail."""
            raise RuntimeError(topic)

    handler = PlainHandler(lambda *_: None)
    manager = TaskManager(topic, repository, backend.begin, lambda _: handler, limiter=Failing(), listener=recorder)
    manager.start()
    recorder.wait("fatal")
    manager.stop()
    assert (handler.closed, manager.active, recorder.names()) == (1, False, ["fatal"])


def test_an_error_of_the_handler_factory_is_reported(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """The manager does not run, and can be started once the reason is gone (TM-24)."""
    broken = [True]

    def factory(topic: str) -> TaskHandler:
        if broken:
            raise ValueError(broken.pop())
        return each(nothing)(topic)

    manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder, pause=LONG)
    assert (manager.start(), manager.active, recorder.names()) == (False, False, ["fatal"])
    assert (manager.start(), manager.stop()) == (True, True)


def test_an_error_of_closing_the_handler_is_reported(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """The manager ends all the same (TM-24, TM-25)."""
    handler = PlainHandler(lambda *_: None)
    handler.close = lambda: 1 / 0  # type: ignore[method-assign, assignment]
    manager = TaskManager(topic, repository, backend.begin, lambda _: handler, listener=recorder, pause=LONG)
    manager.start()
    assert (manager.stop(), manager.active, recorder.names()) == (True, False, ["fatal"])


def test_the_handler_is_closed_before_the_manager_is_inactive(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Whoever sees it inactive may rely on the handler being closed (TM-05, TM-25)."""
    seen = []
    handler = PlainHandler(lambda *_: None)
    manager = TaskManager(topic, repository, backend.begin, lambda _: handler, pause=LONG)
    handler.close = lambda: seen.append(manager.active)  # type: ignore[method-assign]
    manager.start()
    manager.stop()
    assert (seen, manager.active) == ([True], False)


def test_stop_while_waiting_for_a_slot_is_quiet(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """The loop ends, its request leaves the queue, nothing is reported (TM-B5, LM-07, LM-B1)."""
    limiter = TaskLimiter.bounded(1)
    held = limiter.request("other")
    requested = threading.Event()

    class Noting(TaskLimiter):
        def request(self, topic: str) -> TaskToken:
            """Say that the loop is about to wait."""
            requested.set()
            return limiter.request(topic)

    with running(backend, repository, each(nothing), topic=topic, listener=recorder, limiter=Noting()) as manager:
        assert requested.wait(PATIENCE)
        assert manager.stop() is True
    assert recorder.names() == []
    held.release()
    assert limiter.request("other").wait(0) is True


@claims
def test_a_slot_covers_a_batch_from_poll_to_completion(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Two managers that share one slot never work at once, whatever the size of batches (LM-02, LM-04, TM-06)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    push(backend, repository, topic, *map(str, range(20)))
    push(backend, repository, "other", *map(str, range(20)))
    limiter = TaskLimiter.bounded(1)
    overlaps = []

    def work(_: object) -> None:
        other = limiter.request("any")
        overlaps.append(other.wait(0))
        other.cancel()

    options: dict[str, Any] = {"limiter": limiter, "size": 3, "claim": claim}
    with (
        running(backend, repository, batch(work), listener=recorder, **options),
        running(backend, repository, batch(work), topic="other", listener=recorder, **options),
    ):
        recorder.wait("complete", 14)
    assert not any(overlaps)
    assert limiter.request("any").wait(0) is True


def test_resume_and_stop_find_a_manager_that_is_starting(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder
) -> None:
    """Neither is lost before start has returned, and what is stopped by then polls nothing (TM-03, TM-B4)."""
    push(backend, repository, topic, "a")
    answers: list[bool] = []
    with Gate() as gate, ThreadPoolExecutor(2) as executor:

        def factory(topic: str) -> TaskHandler:
            gate.pass_through()
            return each(nothing)(topic)

        manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder)
        starting = executor.submit(manager.start)
        gate.wait()
        answers += [manager.active, manager.resume()]
        with pytest.raises(TimeoutError):
            manager.stop(MOMENT)
        gate.open()
        answers += [starting.result(PATIENCE), manager.active]
    assert answers == [False, True, False, False]
    assert recorder.names() == []


def test_threads_are_named(backend: Backend, repository: Repository, topic: str) -> None:
    """A dump of all threads says which topic is worked on (DESIGN 5)."""
    names: list[str] = []
    for claim in Claim:
        push(backend, repository, topic, "a")
        listener = Recorder()
        work = each(lambda _: names.append(threading.current_thread().name))
        with running(backend, repository, work, listener=listener, claim=claim):
            listener.wait("empty")
    assert names == ["task-manager-topic", "task-handler-topic_0"]


@pytest.mark.parametrize("form", ["each", "batch"])
def test_work_within_its_transaction_needs_no_second_thread(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, form: str
) -> None:
    """It runs where the transaction is, and nobody waits for anybody (DESIGN 5)."""
    push(backend, repository, topic, "a", "b")
    names: list[str] = []

    def work(_: object, __: object) -> None:
        names.append(threading.current_thread().name)
        names.extend(thread.name for thread in threading.enumerate() if thread.name.startswith("task-handler"))

    factory = each(work) if form == "each" else batch(work)
    with running(backend, repository, factory, listener=recorder, claim=Claim.TRANSACTION):
        recorder.wait("empty")
    assert set(names) == {"task-manager-topic"}
    assert recorder.names() == ["start", "callback", "complete", "dispatched"]


@pytest.mark.parametrize("form", ["each", "batch"])
def test_functions_do_not_wait_for_their_commit(form: str) -> None:
    """The thread on which they ran is free before the transaction is decided (DESIGN 5)."""
    stored: list[object] = []
    source: Any = SimpleNamespace(complete_many=lambda tx, topic, decisions: stored.append((tx, topic, decisions)))
    work: Work[Any] = Work("topic", source, nullcontext, Reporter("topic", TaskListener()))
    tasks = [Task(1, "a"), Task(2, "b")]
    factory = each(nothing) if form == "each" else batch(lambda _: None)
    with ThreadPoolExecutor(1) as second:
        made = TransactionalBatch(work, tasks)
        made.begin(factory("topic"), second)
        assert second.submit(int).result(PATIENCE) == 0
        assert stored == []
        made.decide("tx")
        made.committed(lambda: None)
    assert stored == [("tx", "topic", dict.fromkeys(tasks, TaskDecision.SUCCESS))]


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"size": 1.5},
        {"pause": -MOMENT},
        {"pause": 1},
        {"lease": timedelta()},
        {"order": "LIFO"},
        {"condition": None},
        {"claim": "COMMITTED"},
        {"topic": ""},
        {"topic": None},
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any]) -> None:
    """What can't mean anything is an error at once (TM-07)."""
    source: Any = None
    dispatcher: Any = None
    with pytest.raises(InvalidTaskError):
        TaskManager(
            **{"topic": "topic", **options}, source=source, dispatcher=dispatcher, handler_factory=each(nothing)
        )


@pytest.mark.parametrize("made", [None, nothing])
def test_a_factory_that_makes_no_handler_is_reported(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, made: object
) -> None:
    """The error says what to do, as a function alone is an easy mistake (TM-24)."""
    factory: Any = lambda _: made  # noqa: E731 - a factory
    manager = TaskManager(topic, repository, backend.begin, factory, listener=recorder)
    assert (manager.start(), manager.active) == (False, False)
    assert "see each and batch" in str(recorder.wait("fatal")[0])


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    """Insist that every manager of a test has ended."""
    yield
    left = [thread for thread in threading.enumerate() if thread.name.startswith(("task-manager", "task-handler"))]
    for thread in left:
        thread.join(PATIENCE)
        assert not thread.is_alive()


@claims
def test_a_pause_without_end_ends_when_it_is_told_to(
    backend: Backend, repository: Repository, topic: str, recorder: Recorder, claim: Claim
) -> None:
    """Times that no clock of the machine reaches are as good as for ever (TM-06, TM-08)."""
    ever = timedelta.max
    manager = TaskManager(
        topic, repository, backend.begin, each(lambda _: None), listener=recorder, pause=ever, claim=claim
    )
    assert manager.start(ever) is True
    recorder.wait("empty")
    push(backend, repository, topic, "a")
    manager.resume()
    recorder.wait("complete")
    assert manager.stop(ever) is True
    assert recorder.names(without=("empty", *BATCH)) == []
