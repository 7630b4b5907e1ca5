"""Batches that are polled while another one is worked on, their claims committed."""

from __future__ import annotations

import gc
import threading
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from task_api import Claim, Condition, InvalidTaskError, Task, TaskRepository, TaskState
from task_processor import TaskLimiter, TaskManager, UnavailableError, Worker, each
from task_processor.ahead import Ahead
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
    from collections.abc import Sequence

    from task_processor import Callback, OnFailure
    from task_processor.committed import CommittedBatch
    from tests.backends import Backend, Transaction

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.usefixtures("no_thread_is_left")]
Repository = TaskRepository[Any]


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

        manager = TaskManager(
            topic, source, backend.begin, each(work), size=1, ahead=ahead, listener=recorder, pause=LONG
        )
        source.manager = manager
        manager.start()
        gate.wait()
        eventually(lambda: manager.statistics.batches == ahead + 1)
        found = states(backend, repository, topic)
        assert [found[task.sequence] for task in tasks] == [TaskState.ACTIVE] * (ahead + 1) + [TaskState.READY] * (
            5 - ahead
        )
        assert recorder.names() == ["start"]
        gate.open()
        recorder.wait("empty")
        recorder.wait("dispatched", 6)
        manager.stop()
    assert recorder.names() == BATCH * 6
    assert worked == numbers(recorder, "start") == numbers(recorder, "complete") == list("abcdef")
    assert max(source.under_way) == ahead
    assert {info(backend, repository, topic, task).attempt for task in tasks} == {1}


def test_a_handler_knows_one_thread(backend: Backend, repository: Repository, topic: str) -> None:
    """It is made, called and closed there, for one batch at a time, whatever is polled meanwhile."""
    push(backend, repository, topic, *map(str, range(50)))
    recorder, threads, present = Recorder(), list[int](), list[int]()

    class Handler(PlainHandler):
        def __init__(self, _: str) -> None:
            super().__init__(self.work)
            threads.append(threading.get_ident())

        def work(self, tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
            present.append(1)
            assert len(present) == 1
            threads.append(threading.get_ident())
            callback(lambda _: handled(tasks))
            present.clear()

        def close(self) -> None:
            super().close()
            threads.append(threading.get_ident())

    with running(backend, repository, Handler, size=3, ahead=3, listener=recorder):
        recorder.wait("complete", 17)
    assert len(threads) == 19
    assert len(set(threads)) == 1
    assert "error" not in recorder.names()


def test_a_stop_gives_back_what_waits(backend: Backend, repository: Repository, topic: str) -> None:
    """At once, its attempt not counted and nothing reported, while the batch under way is finished."""
    tasks = push(backend, repository, topic, *"abcd")
    recorder, limiter = Recorder(), TaskLimiter.bounded(3)
    with Gate() as gate:
        with running(
            backend,
            repository,
            each(gate.pass_through),
            size=1,
            ahead=2,
            listener=recorder,
            limiter=limiter,
        ) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == 3)
            with pytest.raises(TimeoutError, match="still at work"):
                manager.stop(MOMENT)
            eventually(lambda: manager.statistics.batches == 1)
            found = [info(backend, repository, topic, task) for task in tasks]
            assert [task.state for task in found] == [TaskState.ACTIVE, *[TaskState.READY] * 3]
            assert [task.attempt for task in found] == [1, 0, 0, 0]
            gate.open()
        assert manager.active is False
    assert recorder.names() == BATCH
    assert states(backend, repository, topic)[tasks[0].sequence] is TaskState.SUCCEEDED
    # Every slot came back.
    assert [limiter.request(topic).wait(0) for _ in range(4)] == [True, True, True, False]


def test_a_worker_gives_back_all_after_its_grace(backend: Backend, repository: Repository, topic: str) -> None:
    """What is worked on and what waits; the result that comes too late is dropped (P2)."""
    tasks = push(backend, repository, topic, "a", "b")
    recorder = Recorder()
    with Gate() as gate:
        manager = TaskManager(
            topic, repository, backend.begin, each(gate.pass_through), size=1, ahead=1, listener=recorder, pause=LONG
        )
        worker = Worker(repository, backend.begin, [manager], **BRISK, grace=timedelta())
        worker.start()
        gate.wait()
        eventually(lambda: manager.statistics.batches == 2)
        with pytest.raises(TimeoutError, match="given back"):
            worker.stop()
        found = [info(backend, repository, topic, task) for task in tasks]
        assert [(task.state, task.attempt) for task in found] == [(TaskState.READY, 0)] * 2
        gate.open()
        eventually(lambda: not manager.active)
    assert recorder.names() == ["start", "error", "dispatched"]
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}


def test_what_was_given_back_has_no_turn(backend: Backend, repository: Repository, topic: str) -> None:
    """A batch that is abandoned while it waits is polled again, and worked on once."""
    tasks = push(backend, repository, topic, "a", "b")
    recorder, worked = Recorder(), list[str]()
    with Gate() as gate:

        def work(task: Task) -> None:
            worked.append(task.identifier)
            gate.pass_through()

        with running(backend, repository, each(work), size=1, ahead=1, listener=recorder) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == 2)
            assert manager.abandon() == 2
            gate.open()
            recorder.wait("complete", 2)
    assert worked == ["a", "a", "b"]
    assert recorder.names() == ["start", "error", "dispatched", *BATCH * 2]
    assert [info(backend, repository, topic, task).attempt for task in tasks] == [1, 1]


def test_the_end_of_the_work_ends_the_pause(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll that found nothing, because siblings were at work, is made again once they are decided (P4)."""
    push(backend, repository, topic, "same", "same", "same")
    recorder = Recorder()
    options: Any = {"condition": Condition.SINGULAR_BY_IDENTIFIER, "size": 1, "ahead": 1, "listener": recorder}
    with Gate() as gate, running(backend, repository, each(gate.pass_through), **options):
        gate.wait()
        recorder.wait("empty")
        gate.open()
        recorder.wait("complete", 3)


def test_a_short_batch_is_the_last_for_now(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing is polled after it until its end, or until somebody says that there is more."""
    push(backend, repository, topic, "a")
    source, recorder = Watched(repository), Recorder()
    with Gate() as gate:
        manager = TaskManager(
            topic, source, backend.begin, each(gate.pass_through), size=2, ahead=1, listener=recorder, pause=LONG
        )
        source.manager = manager
        manager.start()
        gate.wait()
        assert source.under_way == [0]
        push(backend, repository, topic, "b")
        manager.resume()
        eventually(lambda: manager.statistics.batches == 2)
        assert source.under_way == [0, 1]
        gate.open()
        recorder.wait("empty")
        manager.stop()
    assert recorder.names() == BATCH * 2


def test_nothing_that_waits_begins_where_nothing_can(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that is not available gives back its batch and those that wait; the next poll waits, ever longer."""
    tasks = push(backend, repository, topic, "a", "b")
    source, recorder, heard = Watched(repository), Recorder(), list[object]()

    def delay(_: timedelta, failures: int, __: timedelta) -> timedelta:
        heard.append((failures, len(source.under_way)))
        return MOMENT

    def work(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        heard.append(tasks[0].identifier)
        if heard.count("a") <= 2:
            eventually(lambda: manager.statistics.batches == 2)
            raise UnavailableError
        callback(lambda _: handled(tasks))

    monkeypatch.setattr("task_processor.loop.backoff_delay", delay)
    manager = TaskManager(
        topic, source, backend.begin, lambda _: PlainHandler(work), size=1, ahead=1, listener=recorder, pause=LONG
    )
    source.manager = manager
    manager.start()
    recorder.wait("complete", 2)
    manager.stop()
    assert heard == ["a", (1, 2), "a", (2, 4), "a", "b"]
    assert [info(backend, repository, topic, task).attempt for task in tasks] == [1, 1]


def test_what_waits_is_given_back_before_more_is_polled(
    backend: Backend, repository: Repository, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that could not begin comes first again, however long its handler takes to return (TM-20, P3)."""
    push(backend, repository, topic, "a", "b")
    recorder, heard, waited, again = Recorder(), list[str](), threading.Event(), threading.Event()
    failing, polling = threading.Event(), threading.Lock()

    def delay(_: timedelta, failures: int, __: timedelta) -> timedelta:
        heard.append(f"wait {failures}")
        waited.set()
        return MOMENT

    class Telling(Watched):
        def poll_many(self, *arguments: Any, **options: Any) -> list[Task]:
            with polling:
                if waited.is_set():
                    again.set()
                # One that has begun already comes a moment too early to find what is given back.
                return [] if failing.is_set() else super().poll_many(*arguments, **options)

    def work(tasks: Sequence[Task], callback: Callback, on_failure: OnFailure) -> None:
        heard.append(tasks[0].identifier)
        if tasks[0].identifier == "a" and heard.count("a") <= 2:
            eventually(lambda: manager.statistics.batches == 2)
            waited.clear()
            again.clear()
            with polling:
                failing.set()
            on_failure(UnavailableError())
            assert waited.wait(PATIENCE)
            assert not again.wait(0.2), "it was polled again before the handler has returned"
            failing.clear()
        else:
            callback(lambda _: handled(tasks))

    monkeypatch.setattr("task_processor.loop.backoff_delay", delay)
    handler = PlainHandler(work)
    manager = TaskManager(
        topic, Telling(repository), backend.begin, lambda _: handler, size=1, ahead=2, listener=recorder, pause=MOMENT
    )
    manager.start()
    recorder.wait("complete", 2)
    manager.stop()
    assert heard == ["a", "wait 1", "a", "wait 2", "a", "b"]


def test_who_has_backed_off_waits_for_all_that_was_polled() -> None:
    """Also for what came too late to be dropped, and has not had its turn (TM-20, P3)."""
    ahead, rested, batch = Ahead[Any](2), threading.Event(), cast("CommittedBatch[Any]", object())
    assert ahead.put(batch)

    def rest() -> None:
        ahead.rest()
        rested.set()

    threads = [threading.Thread(target=target, daemon=True) for target in (rest, ahead.get)]
    threads[0].start()
    assert not rested.wait(0.1)
    assert ahead.get() is batch
    assert not rested.wait(0.1)
    threads[1].start()
    assert rested.wait(PATIENCE)
    ahead.close()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("claim", Claim)
def test_nothing_is_kept_alive_by_who_waits(
    backend: Backend, repository: Repository, topic: str, claim: Claim, ahead: int
) -> None:
    """What a batch was is forgotten when it is done, not when the next one comes."""
    push(backend, repository, topic, *"abc")

    class Trace:
        """What a listener makes of a batch."""

    class Tracing(Recorder):
        def on_start(self, topic: str, tasks: Sequence[Task]) -> Any:  # noqa: ANN401 - as declared
            super().on_start(topic, tasks)
            trace = Trace()
            traces.append(weakref.ref(trace))
            return trace

        def on_complete(self, topic: str, trace: object, decisions: object) -> None:  # noqa: ARG002 - as declared
            self._hear("complete", topic, None)

        def on_dispatched(self, topic: str, trace: object, tasks: object) -> None:
            """Keep nothing."""

        def on_callback(self, topic: str, trace: object, tasks: object) -> None:
            """Keep nothing."""

    traces: list[weakref.ref[Trace]] = []
    recorder = Tracing()
    options: Any = {"claim": claim, "ahead": ahead, "size": 1, "listener": recorder}
    with running(backend, repository, each(lambda _: None), **options):
        recorder.wait("complete", 3)
        recorder.wait("empty")

        def forgotten() -> bool:
            gc.collect()
            return not any(trace() for trace in traces)

        eventually(forgotten)
    assert len(traces) == 3


def test_a_batch_that_lost_tasks_while_it_waited_does_not_begin(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """They are reported when its turn comes, and the rest is polled again (P2)."""
    tasks = push(backend, repository, topic, *"abcd")
    source, recorder, thief, worked = Watched(repository), Recorder(), backend.repository("thief"), list[str]()
    with Gate() as gate:

        def work(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
            worked.append("".join(task.identifier for task in tasks))
            gate.pass_through()
            callback(lambda _: handled(tasks))

        manager = TaskManager(
            topic,
            source,
            backend.begin,
            lambda _: PlainHandler(work),
            size=2,
            ahead=1,
            listener=recorder,
            pause=LONG,
            lease=timedelta(milliseconds=300),
        )
        manager.start()
        gate.wait()
        eventually(lambda: manager.statistics.batches == 2)
        with backend.begin() as tx:
            thief.eject(tx, topic, tasks[2])
        assert source.lost.acquire(timeout=PATIENCE)
        while source.extended.acquire(blocking=False):
            pass
        # What is left is extended all the same.
        assert source.extended.acquire(timeout=PATIENCE)
        assert recorder.names() == ["start"]
        gate.open()
        recorder.wait("complete", 2)
        recorder.wait("empty")
        manager.stop()
    assert worked == ["ab", "d"]
    assert recorder.names() == [*BATCH, "start", "lost", "dispatched", *BATCH]
    assert recorder.wait("lost") == [(tasks[2],)]
    assert numbers(recorder, "start") == ["ab", "cd", "d"]


def test_no_slot_is_kept_by_who_has_no_place(backend: Backend, repository: Repository, topic: str) -> None:
    """A topic that has polled enough ahead leaves the next slot of a shared limiter to others."""
    push(backend, repository, topic, *"abcd")
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    push(backend, repository, "other", "x")
    limiter, recorder = TaskLimiter.bounded(3), Recorder()
    with Gate() as gate:
        options: Any = {"size": 1, "limiter": limiter}
        with running(backend, repository, each(gate.pass_through), ahead=1, **options) as manager:
            gate.wait()
            eventually(lambda: manager.statistics.batches == 2)
            with running(backend, repository, each(lambda _: None), topic="other", listener=recorder, **options):
                recorder.wait("complete")
            gate.open()


def test_a_handler_that_tells_its_room_is_not_polled_ahead_for(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It tells it for what it has, and not for what waits."""
    push(backend, repository, topic, *"abc")
    recorder, names = Recorder(), list[str]()

    class Handler(PlainHandler):
        def room(self) -> int:
            names.append(threading.current_thread().name)
            return 1

    def work(tasks: Sequence[Task], callback: Callback, _: OnFailure) -> None:
        callback(lambda _: handled(tasks))

    with running(backend, repository, lambda _: Handler(work), ahead=5, listener=recorder):
        recorder.wait("complete", 3)
    assert set(names) == {"task-manager-topic"}


@pytest.mark.parametrize("where", ["empty", "complete"])
def test_a_listener_may_stop_its_manager(backend: Backend, repository: Repository, topic: str, where: str) -> None:
    """On whatever thread it hears of it; nobody waits for himself (TM-B6)."""
    push(backend, repository, topic, "a")
    managers: list[TaskManager[Any]] = []
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
                assert managers[0].stop() is True
                stopped.set()

    manager = TaskManager(topic, repository, backend.begin, each(lambda _: None), ahead=1, listener=Stopping())
    managers.append(manager)
    manager.start()
    assert stopped.wait(PATIENCE)
    eventually(lambda: not manager.active)


def test_a_poll_that_fails_leaves_the_work_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """It is reported and made again, and what waits has its turn."""
    push(backend, repository, topic, *"abc")
    recorder, worked = Recorder(), list[str]()
    failing = threading.Event()

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
        else:
            recorder.wait("fatal")
            failing.clear()

    manager = TaskManager(
        topic,
        Failing(repository),
        backend.begin,
        each(work),
        size=1,
        ahead=1,
        listener=recorder,
        pause=timedelta(milliseconds=50),
    )
    manager.start()
    recorder.wait("complete", 3)
    manager.stop()
    assert worked == ["a", "b", "c"]


def test_effects_of_what_was_polled_ahead_commit_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Poll and decision go on beside each other in several managers, and each task is decided once (P2)."""
    tasks = push(backend, repository, topic, *map(str, range(200)))
    recorder, worked, lock = Recorder(), list[str](), threading.Lock()

    def work(task: Task, _: Transaction) -> None:
        with lock:
            worked.append(task.identifier)

    options: Any = {"size": 7, "ahead": 2, "listener": recorder}
    with (
        running(backend, repository, each(work), **options),
        running(backend, backend.repository("other"), each(work), **options),
    ):
        eventually(lambda: set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED})
    assert sorted(worked) == sorted(task.identifier for task in tasks)
    assert "lost" not in recorder.names()


@pytest.mark.parametrize("ahead", [-1, True, 1.5, None])
def test_a_wrong_number_is_refused(backend: Backend, repository: Repository, ahead: Any) -> None:  # noqa: ANN401
    """Before anything runs."""
    with pytest.raises(InvalidTaskError, match="ahead must be at least 0"):
        TaskManager("topic", repository, backend.begin, each(print), ahead=ahead)
