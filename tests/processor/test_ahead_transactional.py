"""Batches that are polled while another one is worked on, each in a transaction of its own that is its claim."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, Insertion, Task, TaskRepository, TaskState
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    TaskLimiter,
    TaskManager,
    UnavailableError,
    Worker,
    batch,
    each,
)
from task_processor.turns import Turns
from tests.backends.steps import info, push, states
from tests.processor.support import (
    BATCH,
    BRISK,
    LONG,
    MOMENT,
    PATIENCE,
    Gate,
    PlainHandler,
    Recorder,
    Watched,
    eventually,
    handled,
    numbers,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from task_processor import Callback, OnFailure, TaskHandlerFactory
    from task_processor.transactional import TransactionalBatch
    from tests.backends import Backend, Transaction

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.usefixtures("no_thread_is_left")]
Repository = TaskRepository[Any]
LETTERS = "abcdefghijklmnopqrst"
# SQLite has one writer at a time, so that a second transaction begins when the first one has ended.
beside = pytest.mark.backends("postgresql")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let batches wait for their turn as long as the test takes."""
    monkeypatch.setattr("task_processor.turns.PATIENCE", PATIENCE)


def free(backend: Backend, topic: str) -> str:
    """The tasks that another worker could have."""
    other = backend.repository("other")
    with backend.begin() as tx:
        return "".join(task.identifier for task in other.poll_many(tx, topic, 100, claim=Claim.TRANSACTION))


def manager_of(
    backend: Backend, source: Repository | Watched, factory: TaskHandlerFactory, listener: Recorder, **options: Any
) -> TaskManager[Any]:
    """A manager with transactional claims, one by one and one ahead unless told otherwise, not yet started."""
    options = {"size": 1, "ahead": 1, "pause": LONG, "claim": Claim.TRANSACTION, **options}
    manager = TaskManager("topic", source, backend.begin, factory, listener=listener, **options)
    if isinstance(source, Watched):
        source.manager = manager
    return manager


@contextmanager
def taking_turns(
    backend: Backend, source: Repository | Watched, factory: TaskHandlerFactory, listener: Recorder, **options: Any
) -> Iterator[TaskManager[Any]]:
    """Such a manager, started, and stopped in the end."""
    manager = manager_of(backend, source, factory, listener, **options)
    assert manager.start() is True
    try:
        yield manager
    finally:
        manager.stop()


@beside
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_batches_are_polled_while_one_is_worked_on(
    backend: Backend, repository: Repository, topic: str, ahead: int
) -> None:
    """As many as was said and no more; each has its turn in the order of the polls, and is reported then."""
    tasks = push(backend, repository, topic, *"abcdef")
    source, recorder, worked = Watched(repository), Recorder(), list[str]()
    with Gate() as gate:

        def work(task: Task) -> None:
            worked.append(task.identifier)
            gate.pass_through()

        with taking_turns(backend, source, each(work), recorder, ahead=ahead) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == ahead + 1)
            assert free(backend, topic) == "abcdef"[ahead + 1 :]
            assert recorder.names() == ["start"]
            gate.open()
            recorder.wait("empty")
            recorder.wait("dispatched", 6)
    assert recorder.names() == BATCH * 6
    assert worked == numbers(recorder, "start") == numbers(recorder, "complete") == list("abcdef")
    assert max(source.under_way) == ahead
    assert {info(backend, repository, topic, task).attempt for task in tasks} == {1}


def _asynchronous(fn: Callable[[Task], None]) -> TaskHandlerFactory:
    async def work(task: Task) -> None:
        fn(task)

    return each(work)


def _whole(fn: Callable[[Task], None]) -> Callable[[Sequence[Task]], None]:
    def work(tasks: Sequence[Task]) -> None:
        for task in tasks:
            fn(task)

    return work


def _own(fn: Callable[[Task], None]) -> TaskHandlerFactory:
    def handle(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        _whole(fn)(tasks)
        assert callback(lambda _: handled(tasks)) is True

    return lambda _: PlainHandler(handle)


FORMS: dict[str, Callable[[Callable[[Task], None]], TaskHandlerFactory]] = {
    "each": each,
    "each in the transaction": lambda fn: each(lambda task, _: fn(task)),
    "batch": lambda fn: batch(_whole(fn)),
    "batch in the transaction": lambda fn: batch(lambda tasks, _: _whole(fn)(tasks)),
    "asynchronous": _asynchronous,
    "buffering": lambda fn: BufferingTaskHandlerFactory(each(fn), buffer=2, workers=1),
    "composite": lambda fn: CompositeTaskHandlerFactory(concurrency=0).each("step", fn),
    "of one's own": _own,
}


@pytest.mark.parametrize("form", FORMS)
def test_batches_are_worked_on_one_after_the_other(
    backend: Backend, repository: Repository, topic: str, form: str
) -> None:
    """Whatever the handler is: the next one begins when all is over with the one before, and nothing goes wrong."""
    push(backend, repository, topic, *LETTERS)
    recorder, worked = Recorder(), list[str]()
    factory = FORMS[form](lambda task: worked.append(task.identifier))
    with taking_turns(backend, repository, factory, recorder, size=3, ahead=3):
        recorder.wait("dispatched", 7)
    assert recorder.names() == BATCH * 7
    assert numbers(recorder, "start") == [LETTERS[first : first + 3] for first in range(0, 20, 3)]
    assert "".join(worked) == LETTERS
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_a_handler_is_called_on_one_thread(backend: Backend, repository: Repository, topic: str) -> None:
    """For one batch at a time, each of which is decided before; it is made and closed on the manager's thread."""
    push(backend, repository, topic, *LETTERS)
    recorder, calls, others, present = Recorder(), set[threading.Thread](), list[str](), list[int]()

    class Handler(PlainHandler):
        def __init__(self, _: str) -> None:
            super().__init__(self.work)
            others.append(threading.current_thread().name)

        def work(self, tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
            present.append(1)
            assert len(present) == 1
            calls.add(threading.current_thread())
            assert callback(lambda _: handled(tasks)) is True
            present.clear()

        def close(self) -> None:
            others.append(threading.current_thread().name)

    with taking_turns(backend, repository, Handler, recorder, size=3, ahead=3):
        recorder.wait("dispatched", 7)
    assert [thread.name for thread in calls] == ["task-handler-topic_0"]
    assert others == ["task-manager-topic"] * 2
    assert "error" not in recorder.names()


@beside
@pytest.mark.usefixtures("patient")
def test_a_stop_gives_back_what_waits(backend: Backend, repository: Repository, topic: str) -> None:
    """At once, its attempt not counted and nothing reported, while the batch under way is finished."""
    tasks = push(backend, repository, topic, *"abcd")
    recorder, limiter = Recorder(), TaskLimiter.bounded(3)
    with Gate() as gate:
        with taking_turns(backend, repository, each(gate.pass_through), recorder, ahead=2, limiter=limiter) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == 3)
            with pytest.raises(TimeoutError, match="still at work"):
                manager.stop(MOMENT)
            eventually(lambda: manager.statistics.batches == 1)
            assert free(backend, topic) == "bcd"
            gate.open()
        assert manager.active is False
    assert recorder.names() == BATCH
    found = [info(backend, repository, topic, task) for task in tasks]
    assert [(task.state, task.attempt) for task in found] == [(TaskState.SUCCEEDED, 1), *[(TaskState.READY, 0)] * 3]
    # Every slot came back.
    assert [limiter.request(topic).wait(0) for _ in range(4)] == [True, True, True, False]


def test_work_may_stop_its_manager(backend: Backend, repository: Repository, topic: str) -> None:
    """On whichever thread its batch was polled; nobody waits for himself, and nothing else begins (TM-B6)."""
    push(backend, repository, topic, *"abcd")
    recorder, worked = Recorder(), list[str]()

    def work(task: Task, _: Transaction) -> None:
        worked.append(task.identifier)
        if task.identifier == "b":
            assert manager.stop() is True

    manager = manager_of(backend, repository, each(work), recorder, ahead=2)
    manager.start()
    eventually(lambda: not manager.active)
    assert worked == ["a", "b"]
    assert recorder.names() == BATCH * 2


@pytest.mark.parametrize("where", ["empty", "complete"])
def test_a_listener_may_stop_its_manager(backend: Backend, repository: Repository, topic: str, where: str) -> None:
    """On whatever thread it hears of it (TM-B6)."""
    push(backend, repository, topic, "a")
    stopped = threading.Event()

    class Stopping(Recorder):
        def on_empty(self, topic: str) -> None:
            super().on_empty(topic)
            self.end("empty")

        def on_complete(self, topic: str, trace: Any, decisions: Any) -> None:  # noqa: ANN401
            super().on_complete(topic, trace, decisions)
            self.end("complete")

        def end(self, name: str) -> None:
            if name == where:
                assert manager.stop() is True
                stopped.set()

    manager = manager_of(backend, repository, each(lambda _: None), Stopping())
    manager.start()
    assert stopped.wait(PATIENCE)
    eventually(lambda: not manager.active)


@beside
@pytest.mark.usefixtures("patient")
def test_a_worker_gives_back_all_after_its_grace(backend: Backend, repository: Repository, topic: str) -> None:
    """What is worked on and what waits; the result that comes too late is dropped (P2)."""
    tasks = push(backend, repository, topic, "a", "b", "c")
    recorder = Recorder()
    with Gate() as gate:
        manager = manager_of(backend, repository, each(gate.pass_through), recorder, ahead=2)
        worker = Worker(repository, backend.begin, [manager], **BRISK, grace=timedelta())
        worker.start()
        gate.wait()
        eventually(lambda: manager.statistics.batches == 3)
        worker.stop()
        assert free(backend, topic) == "abc"
        gate.open()
        eventually(lambda: not manager.active)
    assert recorder.names() == ["start", "error", "dispatched"]
    found = [info(backend, repository, topic, task) for task in tasks]
    assert [(task.state, task.attempt) for task in found] == [(TaskState.READY, 0)] * 3


@beside
@pytest.mark.usefixtures("patient")
def test_what_was_given_back_has_no_turn(backend: Backend, repository: Repository, topic: str) -> None:
    """With work that hangs, what waits is given up too; all of it is polled again in its order, and worked on once."""
    tasks = push(backend, repository, topic, "a", "b", "c")
    recorder, worked, names = Recorder(), list[str](), list[str]()
    with Gate() as gate:

        def work(task: Task) -> None:
            worked.append(task.identifier)
            names.append(threading.current_thread().name)
            if len(worked) == 1:
                gate.pass_through()

        with taking_turns(backend, repository, each(work), recorder, ahead=2) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == 3)
            assert (manager.abandon(), manager.abandon()) == (3, 0)
            recorder.wait("dispatched", 4)
    assert worked == ["a", "a", "b", "c"]
    assert recorder.names() == ["start", "error", "dispatched", *BATCH * 3]
    assert [info(backend, repository, topic, task).attempt for task in tasks] == [1, 1, 1]


def test_identifiers_are_singular_all_the_same(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll ahead does not get what is worked on, or has to wait for it, and is made again in time (P4)."""
    push(backend, repository, topic, *"aabab")
    recorder, worked = Recorder(), list[str]()
    with Gate() as gate:

        def work(task: Task) -> None:
            worked.append(task.identifier)
            gate.pass_through()

        options: Any = {"condition": Condition.SINGULAR_BY_IDENTIFIER, "ahead": 2}
        with taking_turns(backend, repository, each(work), recorder, **options) as manager:
            gate.wait()
            if backend.name == "postgresql":
                # The first of b and no more, although three others are there.
                recorder.wait("empty")
                assert manager.statistics.batches <= 2
            gate.open()
            recorder.wait("complete", 5)
    assert sorted(worked) == list("aaabb")
    assert set(recorder.names()) == set(BATCH)


def test_no_two_workers_have_one_identifier(backend: Backend, repository: Repository, topic: str) -> None:
    """However many batches each of them has (P4)."""
    push(backend, repository, topic, *"aaab" * 15)
    recorder, lock, busy, most = Recorder(), threading.Lock(), list[str](), list[int]()

    def work(task: Task, tx: Transaction) -> None:
        with lock:
            busy.append(task.identifier)
            most.append(busy.count(task.identifier))
        repository.count(tx)
        with lock:
            busy.remove(task.identifier)

    options: Any = {
        "condition": Condition.SINGULAR_BY_IDENTIFIER,
        "ahead": 2,
        "pause": timedelta(milliseconds=10),
    }
    with (
        taking_turns(backend, repository, each(work), recorder, **options),
        taking_turns(backend, backend.repository("other"), each(work), recorder, **options),
    ):
        eventually(lambda: set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED})
    assert (len(most), max(most)) == (60, 1)


def test_a_short_batch_is_the_last_for_now(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing is polled before its end, at which the next poll is made at once."""
    push(backend, repository, topic, *"abc")
    source, recorder, polls = Watched(repository), Recorder(), list[int]()
    with Gate() as gate:

        def work(tasks: Sequence[Task]) -> None:
            if len(tasks) == 1:
                gate.pass_through()
                polls.append(len(source.under_way))

        with taking_turns(backend, source, batch(work), recorder, size=2, ahead=2) as manager:
            gate.wait()
            manager.resume()
            gate.open()
            recorder.wait("empty")
    assert numbers(recorder, "start") == ["ab", "c"]
    # The two that found something, before its work was done.
    assert polls == [2]


def test_what_is_pushed_is_found_by_whoever_polls(backend: Backend, repository: Repository, topic: str) -> None:
    """No request to resume is lost between the threads."""
    recorder = Recorder()
    with taking_turns(backend, repository, each(lambda _: None), recorder, ahead=2) as manager:
        for number in range(1, 21):
            push(backend, repository, topic, "a", "b", "c")
            manager.resume()
            recorder.wait("complete", 3 * number)


@beside
def test_a_request_to_resume_is_for_who_polls(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever has ended his work meanwhile does not take it away, before a pause that is yet to begin."""
    push(backend, repository, topic, "a")
    with Gate() as gate:

        class Slow(Recorder):
            def on_empty(self, topic: str) -> None:
                if not self.names(without=()).count("empty"):
                    push(backend, repository, topic, "b")
                    manager.resume()
                    gate.open()
                    self.wait("dispatched")
                    for _ in range(20):
                        free(backend, topic)
                super().on_empty(topic)

        recorder = Slow()
        with taking_turns(backend, repository, each(gate.pass_through), recorder) as manager:
            recorder.wait("complete", 2)


@beside
@pytest.mark.usefixtures("patient")
def test_nothing_that_waits_begins_where_nothing_can(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that is not available gives back its batch and those that wait; the next poll waits, ever longer."""
    tasks = push(backend, repository, topic, "a", "b", "c")
    source, recorder, heard = Watched(repository), Recorder(), list[object]()

    def delay(_: timedelta, failures: int, __: timedelta) -> timedelta:
        heard.append((failures, len(source.under_way)))
        return MOMENT

    def work(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        heard.append(tasks[0].identifier)
        if heard.count("a") <= 2:
            eventually(lambda: manager.statistics.batches == 3)
            raise UnavailableError
        callback(lambda _: handled(tasks))

    monkeypatch.setattr("task_processor.loop.backoff_delay", delay)
    with taking_turns(backend, source, lambda _: PlainHandler(work), recorder, ahead=2) as manager:
        recorder.wait("complete", 3)
    assert heard == ["a", (1, 3), "a", (2, 6), "a", "b", "c"]
    assert recorder.names() == [*["start", "error", "dispatched", "fatal"] * 2, *BATCH * 3]
    assert [info(backend, repository, topic, task).attempt for task in tasks] == [1, 1, 1]


@beside
@pytest.mark.usefixtures("patient")
def test_a_commit_that_fails_gives_back_what_waits(backend: Backend, repository: Repository, topic: str) -> None:
    """What could not be decided comes first again, and once it could be, all goes on."""
    push(backend, repository, topic, *"abc")
    recorder, worked = Recorder(), list[str]()

    @contextmanager
    def begin() -> Iterator[Transaction]:
        with backend.begin() as tx:
            yield tx
            if worked == ["a"]:
                message = "the commit failed"
                raise ConnectionError(message)

    def work(task: Task) -> None:
        if not worked:
            eventually(lambda: manager.statistics.batches == 3)
        worked.append(task.identifier)

    options: Any = {"size": 1, "ahead": 2, "claim": Claim.TRANSACTION, "listener": recorder, "pause": MOMENT}
    manager = TaskManager(topic, repository, begin, each(work), **options)
    manager.start()
    recorder.wait("complete", 3)
    manager.stop()
    assert worked == ["a", "a", "b", "c"]
    assert recorder.names() == ["start", "callback", "error", "dispatched", "fatal", *BATCH * 3]


@beside
@pytest.mark.usefixtures("patient")
def test_a_poll_that_fails_leaves_the_work_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """It is reported and made again, and what waits has its turn."""
    push(backend, repository, topic, *"abcd")
    recorder, worked, failing = Recorder(), list[str](), threading.Event()

    class Failing(Watched):
        def poll_many(self, *arguments: Any, **options: Any) -> list[Task]:
            if failing.is_set():
                raise ConnectionError
            return super().poll_many(*arguments, **options)

    def work(task: Task) -> None:
        worked.append(task.identifier)
        if task.identifier == "a":
            eventually(lambda: manager.statistics.batches == 2)
            failing.set()
        elif task.identifier == "b":
            recorder.wait("fatal")
            failing.clear()

    pause = timedelta(milliseconds=50)
    with taking_turns(backend, Failing(repository), each(work), recorder, pause=pause) as manager:
        recorder.wait("complete", 4)
    assert worked == list("abcd")
    assert "error" not in recorder.names()


@pytest.mark.parametrize("slots", [1, 2])
def test_fewer_slots_than_batches_are_enough(backend: Backend, repository: Repository, topic: str, slots: int) -> None:
    """Whoever waits for a slot keeps nothing that the batches with slots need."""
    push(backend, repository, topic, *LETTERS)
    source, recorder, limiter = Watched(repository), Recorder(), TaskLimiter.bounded(slots)
    with taking_turns(backend, source, each(lambda _: None), recorder, ahead=3, limiter=limiter):
        recorder.wait("complete", 20)
    # One that was decided may have given its slot back a moment before it is no longer under way.
    assert max(source.under_way) <= slots
    assert numbers(recorder, "start") == list(LETTERS)
    # Every slot came back.
    assert [limiter.request(topic).wait(0) for _ in range(slots + 1)] == [*[True] * slots, False]


@beside
@pytest.mark.usefixtures("patient")
def test_no_slot_is_kept_by_who_has_no_place(backend: Backend, repository: Repository, topic: str) -> None:
    """A topic that has polled enough ahead leaves the next slot of a shared limiter to others."""
    push(backend, repository, topic, *"abcd")
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    push(backend, repository, "other", "x")
    limiter, recorder = TaskLimiter.bounded(3), Recorder()
    with Gate() as gate, taking_turns(backend, repository, each(gate.pass_through), Recorder(), limiter=limiter) as one:
        gate.wait()
        eventually(lambda: one.statistics.batches == 2)
        with running(backend, repository, each(print), topic="other", listener=recorder, limiter=limiter):
            recorder.wait("complete")
        gate.open()


def test_a_limiter_that_fails_ends_all(backend: Backend, repository: Repository, topic: str) -> None:
    """On whichever thread; what was begun is decided, it is reported, and no thread is left."""
    push(backend, repository, topic, *LETTERS)
    recorder = Recorder()

    class Failing(TaskLimiter):
        def __init__(self) -> None:
            self._slots, self._left = TaskLimiter.unlimited(), 6

        def request(self, topic: str) -> Any:  # noqa: ANN401 - a token
            self._left -= 1
            if not self._left:
                raise LookupError
            return self._slots.request(topic)

    manager = manager_of(backend, repository, each(lambda _: None), recorder, ahead=2, limiter=Failing())
    manager.start()
    recorder.wait("fatal")
    eventually(lambda: not manager.active)
    assert recorder.names(without=("empty", "fatal")) == BATCH * len(numbers(recorder, "start"))
    assert isinstance(recorder.wait("fatal")[0], LookupError)


def test_a_handler_that_tells_its_room_is_not_polled_ahead_for(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It tells it for what it has, and not for what waits."""
    push(backend, repository, topic, *"abc")
    source, recorder = Watched(repository), Recorder()

    class Handler(PlainHandler):
        def room(self) -> int:
            return 1

    def work(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("task-poller")]
        callback(lambda _: handled(tasks))

    with taking_turns(backend, source, lambda _: Handler(work), recorder, ahead=5):
        recorder.wait("dispatched", 3)
    assert recorder.names() == BATCH * 3
    assert set(source.under_way) == {0}


def test_effects_of_what_was_polled_ahead_commit_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Polls and decisions go on beside each other in several managers, and each task is decided once (P2)."""
    tasks = push(backend, repository, topic, *map(str, range(200)))
    recorder, worked, lock = Recorder(), list[str](), threading.Lock()

    def work(task: Task, _: Transaction) -> None:
        with lock:
            worked.append(task.identifier)

    options: Any = {"size": 7, "ahead": 2}
    with (
        taking_turns(backend, repository, each(work), recorder, **options),
        taking_turns(backend, backend.repository("other"), each(work), recorder, **options),
    ):
        eventually(lambda: set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED})
    assert sorted(worked) == sorted(task.identifier for task in tasks)
    assert set(recorder.names()) == set(BATCH)


@beside
def test_what_waits_gives_way_to_work_that_needs_its_tasks(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """They are locked, so that the one could not go on and the other not begin: it is given back soon."""
    push(backend, repository, topic, *"abc")
    recorder, worked = Recorder(), list[str]()

    def work(task: Task, tx: Transaction) -> None:
        worked.append(task.identifier)
        if task.identifier == "a":
            eventually(lambda: manager.statistics.batches == 3)
            repository.push(tx, topic, "b", insertion=Insertion.SUPERSEDE)

    with taking_turns(backend, repository, each(work), recorder, ahead=2) as manager:
        recorder.wait("complete", 3)
    # The first b is redundant by now.
    assert worked == ["a", "c", "b"]
    assert recorder.names() == BATCH * 3


@beside
def test_what_waits_gives_way_to_work_that_needs_its_connection(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A pool that is just large enough for one batch at a time holds nobody up for long."""
    push(backend, repository, topic, *"abc")
    recorder, worked, pool = Recorder(), list[str](), threading.BoundedSemaphore(2)

    @contextmanager
    def begin() -> Iterator[Transaction]:
        assert pool.acquire(timeout=PATIENCE), "there is no connection"
        try:
            with backend.begin() as tx:
                yield tx
        finally:
            pool.release()

    def work(task: Task) -> None:
        if not worked:
            eventually(lambda: manager.statistics.batches == 2)
        with begin() as tx:
            repository.count(tx)
        worked.append(task.identifier)

    options: Any = {"size": 1, "ahead": 1, "claim": Claim.TRANSACTION, "listener": recorder, "pause": LONG}
    manager = TaskManager(topic, repository, begin, each(work), **options)
    manager.start()
    recorder.wait("complete", 3)
    manager.stop()
    assert worked == list("abc")
    assert recorder.names() == BATCH * 3


@pytest.mark.backends("sqlite")
def test_what_waits_gives_way_to_who_writes_after_the_commit(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """There is one writer at a time, so that the next batch keeps listeners of the last one from writing."""
    push(backend, repository, topic, *"abc")
    with backend.begin() as tx:
        repository.initialize(tx, "other")

    class Writing(Recorder):
        def on_complete(self, topic: str, trace: Any, decisions: Any) -> None:  # noqa: ANN401
            if not self.names().count("complete"):
                eventually(lambda: manager.statistics.batches == 2)
            push(backend, repository, "other", "heard")
            super().on_complete(topic, trace, decisions)

    recorder = Writing()
    with taking_turns(backend, repository, each(lambda _: None), recorder) as manager:
        recorder.wait("dispatched", 3)
    assert numbers(recorder, "complete") == list("abc")
    assert recorder.names() == BATCH * 3
    assert len(states(backend, repository, "other")) == 3


def test_what_gave_way_is_not_polled_again_at_once(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is polled before the end of what it gave way to, and then all of it in its order, for the same thread."""
    monkeypatch.setattr("task_processor.turns.PATIENCE", 0)
    push(backend, repository, topic, *"abcd")
    source, recorder, threads = Watched(repository), Recorder(), set[threading.Thread]()

    def work(task: Task) -> None:
        threads.add(threading.current_thread())
        if task.identifier == "a" and backend.name == "postgresql":
            eventually(lambda: free(backend, topic) == "bcd" and len(source.under_way) > 1)
            for _ in range(20):
                free(backend, topic)
            # That of a, that of the one that gave way, and one that was under way then.
            assert len(source.under_way) <= 3

    with taking_turns(backend, source, each(work), recorder, ahead=2):
        recorder.wait("dispatched", 4)
    assert recorder.names() == BATCH * 4
    assert numbers(recorder, "complete") == list("abcd")
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    assert len(threads) == 1


@beside
def test_what_was_polled_beside_one_that_gave_way_comes_after_it(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if its poll is answered only when nothing is worked on any more: it gives way, too (P3)."""
    monkeypatch.setattr("task_processor.turns.PATIENCE", 0.5)
    push(backend, repository, topic, *"abcd")
    recorder, worked, ended = Recorder(), list[str](), threading.Event()
    leave = Turns.leave

    def leaving(turns: Turns[Any], batch: TransactionalBatch[Any]) -> bool:
        last = leave(turns, batch)
        if batch.tasks[0].identifier == "a":
            ended.set()
        return last

    class Slow(Watched):
        def poll_many(self, *arguments: Any, **options: Any) -> list[Task]:
            tasks = super().poll_many(*arguments, **options)
            assert tasks != [third] or ended.wait(PATIENCE)
            return tasks

    def work(task: Task) -> None:
        worked.append(task.identifier)
        if task.identifier == "a":
            eventually(lambda: "b" in free(backend, topic))

    monkeypatch.setattr(Turns, "leave", leaving)
    with backend.begin() as tx:
        third = repository.page(tx, topic)[2]
    with taking_turns(backend, Slow(repository), each(work), recorder, ahead=2):
        recorder.wait("complete", 4)
    assert worked == list("abcd")
