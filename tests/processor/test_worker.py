"""The worker's life: what it starts, what it stops, and what it says about itself."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    Claim,
    InvalidTaskError,
    SchemaError,
    Task,
    TaskDecision,
    TaskError,
    TaskRepository,
    TaskState,
    UnknownTopicError,
)
from task_processor import PersistentTaskProcessor, RetryPolicy, TaskLimiter, TaskManager, Worker, batch, each
from task_sql import schema
from tests.backends.steps import info, poll, push, states
from tests.processor.support import (
    BRISK,
    LONG,
    MOMENT,
    PATIENCE,
    Gate,
    Recorder,
    Shaky,
    eventually,
    working,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from task_api import Notifiable
    from task_processor import TaskHandler, TaskToken
    from tests.backends import Backend

pytestmark = [pytest.mark.kinds("driver"), pytest.mark.usefixtures("no_thread_is_left")]
Repository = TaskRepository[Any]
claims = pytest.mark.parametrize("claim", Claim)


def nothing(_: Task) -> None:
    """Succeed."""


def manager(backend: Backend, repository: Repository, topic: str = "topic", **options: Any) -> TaskManager[Any]:
    """A manager that has nothing to do."""
    return TaskManager(topic, repository, backend.begin, each(nothing), **{"pause": LONG, **options})


@pytest.mark.usefixtures("topic")
def test_a_worker_registers_works_and_ends(backend: Backend) -> None:
    """A second start or stop changes nothing, and it can be started again (OW-01, OW-13, TM-28, DESIGN 5)."""
    repository = backend.repository("worker", register=False)
    recorder = Recorder()
    worker = Worker(repository, backend.begin, [manager(backend, repository, listener=recorder)])
    assert (worker.active, worker.owner, worker.stop()) == (False, "worker", False)
    for number in (1, 2):
        [task] = push(backend, repository, "topic", "a")
        assert (worker.start(), worker.active, worker.start(), worker.healthy) == (True, True, False, True)
        recorder.wait("complete", number)
        assert (worker.stop(), worker.active, worker.stop(), worker.healthy) == (True, False, False, False)
        assert info(backend, repository, "topic", task).state == TaskState.SUCCEEDED
    assert ("worker",) in backend.sql("SELECT owner FROM task_owner")


def test_a_worker_is_a_context(backend: Backend, repository: Repository, topic: str) -> None:
    """The block is its life (DESIGN 5)."""
    processor = manager(backend, repository, topic)
    with Worker(repository, backend.begin, [processor]) as worker:
        assert (worker.active, processor.active) == (True, True)
    assert (worker.active, processor.active) == (False, False)


def test_run_blocks_until_somebody_stops_the_worker(backend: Backend, repository: Repository, topic: str) -> None:
    """Outside of the main thread no signal is handled, and a stop ends it (DESIGN 5)."""
    worker = Worker(repository, backend.begin, [manager(backend, repository, topic)])
    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(worker.run)
        eventually(lambda: worker.healthy)
        assert running.done() is False
        assert worker.stop() is True
        assert running.result(PATIENCE) is None


def test_run_raises_what_a_start_raises(backend: Backend, repository: Repository) -> None:
    """A worker that can't work does not pretend to (DESIGN 5)."""
    worker = Worker(repository, backend.begin, [manager(backend, repository)])
    with pytest.raises(UnknownTopicError):
        worker.run()
    assert worker.active is False


@pytest.mark.parametrize(
    ("processors", "message"),
    [
        ([], "at least one processor"),
        (7, "a list of processors, not int"),
        ("topic", "a list of processors, not str"),
        (["topic"], "not str, which has no start"),
        ([each(nothing)], "a TaskManager or the like, not function"),
    ],
)
def test_wrong_processors_are_refused(
    backend: Backend, repository: Repository, processors: object, message: str
) -> None:
    """The error says what is wanted (DESIGN 5)."""
    with pytest.raises(InvalidTaskError, match=message):
        Worker(repository, backend.begin, processors)  # type: ignore[arg-type]


def test_one_processor_for_each_topic(backend: Backend, repository: Repository) -> None:
    """Two of them would take each other's tasks (DESIGN 5)."""
    twice = [manager(backend, repository), manager(backend, repository)]
    with pytest.raises(InvalidTaskError, match="two processors for topic 'topic'"):
        Worker(repository, backend.begin, twice)


def test_one_owner_for_all(backend: Backend, repository: Repository) -> None:
    """A processor of another owner would lose its tasks, as nobody beats for it (OW-05)."""
    other = manager(backend, backend.repository("other"))
    with pytest.raises(InvalidTaskError, match="polls as 'other', but the worker beats for 'me'"):
        Worker(repository, backend.begin, [other])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heartbeat": timedelta()}, "heartbeat must be a timedelta longer than zero"),
        ({"heartbeat": 5}, "heartbeat must be a timedelta"),
        ({"expiry": timedelta(seconds=10)}, "expiry must be longer than heartbeat"),
        ({"grace": -MOMENT}, "grace must be a timedelta that is not negative"),
        ({"promotion": timedelta()}, "promotion must be"),
        ({"purge": timedelta()}, "purge must be"),
        ({"on_expired": "RESET"}, "on_expired must be a Revivification, or None"),
    ],
)
def test_wrong_settings_are_refused(
    backend: Backend, repository: Repository, settings: dict[str, Any], message: str
) -> None:
    """What can't mean anything is an error at once (OW-07)."""
    with pytest.raises(InvalidTaskError, match=message):
        Worker(repository, backend.begin, [manager(backend, repository)], **settings)


def test_an_unknown_topic_is_an_error_of_the_start(backend: Backend, repository: Repository) -> None:
    """Nobody would notice a misspelt one otherwise; it can be made on purpose (TO-02, TO-B1)."""
    processor = manager(backend, repository)
    worker = Worker(repository, backend.begin, [processor])
    with pytest.raises(UnknownTopicError, match="topic 'topic' is not initialized") as caught:
        worker.start()
    assert "initialize_topics=True" in caught.value.__notes__[0]
    assert (worker.active, processor.active) == (False, False)
    with Worker(repository, backend.begin, [processor], initialize_topics=True), backend.begin() as tx:
        assert repository.topics(tx) == {"topic"}


def test_a_database_without_schema_is_an_error_of_the_start(backend: Backend) -> None:
    """There is no use in waiting for it (DESIGN 3)."""
    with backend.engine.begin() as connection:
        schema.uninstall(connection)
    repository = backend.repository("worker", register=False)
    worker = Worker(repository, backend.begin, [manager(backend, repository)])
    with pytest.raises(SchemaError):
        worker.start()
    assert worker.active is False


def test_a_processor_that_does_not_start_is_an_error(backend: Backend, repository: Repository, topic: str) -> None:
    """All that was started by then is stopped again (TM-24)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")

    def fail(_: str) -> TaskHandler:
        message = "no handler today"
        raise ValueError(message)

    good = manager(backend, repository, topic)
    bad = TaskManager("other", repository, backend.begin, fail)
    worker = Worker(repository, backend.begin, [good, bad])
    with pytest.raises(TaskError, match=r"topic 'other' did not start: ValueError\('no handler today'\)"):
        worker.start()
    assert (worker.active, good.active, bad.active) == (False, False, False)


def test_a_stop_while_it_starts_is_no_error(backend: Backend, repository: Repository, topic: str) -> None:
    """What has been started by then is stopped again, and the rest is left alone (DESIGN 5)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    stops: list[threading.Thread] = []

    def stop(_: str) -> TaskHandler:
        if not stops:
            stops.append(threading.Thread(target=worker.stop))
            stops[0].start()
            eventually(worker._stop_wanted.is_set)  # noqa: SLF001 - the stop itself waits for the start
        return each(nothing)(topic)

    first = TaskManager(topic, repository, backend.begin, stop)
    second = manager(backend, repository, "other")
    worker = Worker(repository, backend.begin, [first, second])
    assert worker.start() is False
    stops[0].join(PATIENCE)
    assert (worker.active, first.active, second.active) == (False, False, False)
    assert (worker.start(), worker.stop()) == (True, True)


def test_a_database_that_stays_away_is_an_error_of_the_start(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Inside a program somebody waits for the start (DESIGN 5)."""
    shaky = Shaky(backend)
    shaky.down.set()
    worker = Worker(repository, shaky.begin, [manager(backend, repository, topic)])
    with pytest.raises(TimeoutError, match="the database is away"):
        worker.start(MOMENT * 200)
    assert worker.active is False


def test_run_waits_for_the_database(backend: Backend, repository: Repository, topic: str) -> None:
    """As long as it takes, and a stop ends that too (DESIGN 5)."""
    shaky = Shaky(backend)
    shaky.down.set()
    worker = Worker(repository, shaky.begin, [manager(backend, repository, topic)])
    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(worker.run)
        eventually(lambda: shaky.refused > 1)
        shaky.down.clear()
        eventually(lambda: worker.healthy)
        worker.stop()
        running.result(PATIENCE)
        shaky.down.set()
        refused = shaky.refused
        running = executor.submit(worker.run)
        eventually(lambda: shaky.refused > refused)
        assert worker.stop() is False
        running.result(PATIENCE)


def test_persistent_processors_are_started_as_stored(backend: Backend, repository: Repository, topic: str) -> None:
    """The start obeys what is stored, later changes are followed, and the end stores nothing (PN-04, PN-05, PN-10)."""
    inner = manager(backend, repository, topic)
    processor = PersistentTaskProcessor(inner, repository, backend.begin)
    worker = Worker(repository, backend.begin, [processor], **BRISK)
    with worker:
        assert (inner.active, worker.healthy) == (False, True)
        with backend.begin() as tx:
            repository.activate(tx, topic, active=True)
        eventually(lambda: inner.active)
        with backend.begin() as tx:
            repository.activate(tx, topic, active=False)
        eventually(lambda: not inner.active)
        processor.start()
    assert (inner.active, processor.activation) == (False, True)
    with worker:
        assert inner.active is True


class Bell:
    """A notifier that remembers when it was started and stopped."""

    def __init__(self, *, fails: bool = False) -> None:
        self.events: list[tuple[str, list[bool]]] = []
        self.active = False
        self.connected = False
        self._fails = fails
        self._processors: list[Notifiable] = []

    def start(self, processors: Iterable[Notifiable], timeout: timedelta | None = None) -> bool:
        """Remember whom to tell."""
        assert timeout is not None
        self._processors = list(processors)
        self.events.append(("start", [processor.active for processor in self._processors]))
        self.active = self.connected = True
        return True

    def stop(self, timeout: timedelta | None = None) -> bool:
        """Tell nobody any more."""
        assert timeout is not None
        self.events.append(("stop", [processor.active for processor in self._processors]))
        self.active = self.connected = False
        if self._fails:
            raise ValueError
        return True


@pytest.mark.parametrize("fails", [False, True])
def test_the_notifier_starts_last_and_stops_first(
    backend: Backend, repository: Repository, topic: str, *, fails: bool
) -> None:
    """It finds the processors running both times, and its errors stop nothing (PN-07, PN-12)."""
    bell = Bell(fails=fails)
    with Worker(repository, backend.begin, [manager(backend, repository, topic)], notifier=bell) as worker:
        assert (bell.active, worker.health.notifier_connected) == (True, True)
        bell.connected = False
        assert (worker.healthy, worker.health.notifier_connected) == (True, False)
    assert bell.events == [("start", [True]), ("stop", [True])]
    assert worker.active is False


def test_health_counts_what_happens(backend: Backend, repository: Repository, topic: str) -> None:
    """Completed, failed, retried, lost and under way, by topic (DESIGN 5)."""
    recorder, thief = Recorder(), backend.repository("thief")
    push(backend, repository, topic, "good", "bad", "again", "lost")
    with Gate() as gate:

        def work(tasks: list[Task]) -> dict[Task, TaskDecision]:
            [task] = tasks
            if task.identifier == "lost":
                gate.pass_through()
            decision = TaskDecision.retry(LONG) if task.identifier == "again" else TaskDecision.SUCCESS
            return {task: TaskDecision.FAILURE if task.identifier == "bad" else decision}

        with working(
            backend, repository, batch(work), options={"listener": recorder, "size": 1}, on_expired=None
        ) as worker:
            gate.wait()
            health = worker.health
            under_way = health.topics[topic]
            assert (health.alive, health.healthy, health.owner, health.errors) == (True, True, "me", {})
            assert health.notifier_connected is None
            assert (under_way.active, under_way.batches, under_way.tasks) == (True, 1, 1)
            assert (under_way.completed, under_way.failed, under_way.retried, under_way.lost) == (3, 1, 1, 0)
            [lost] = recorder.wait("start")[3]
            with backend.begin() as tx:
                thief.eject(tx, topic, lost)
            gate.open()
            recorder.wait("lost")
        ended = worker.health
    after = ended.topics[topic]
    assert (ended.alive, ended.healthy, after.active) == (False, False, False)
    assert (after.batches, after.tasks, after.completed, after.lost, after.errors) == (0, 0, 3, 1, 0)
    assert None not in (health.started, health.last_beat, health.beat_age, after.last_poll, after.last_completion)
    with pytest.raises(FrozenInstanceError):
        health.alive = False  # type: ignore[misc]


@claims
def test_failures_of_whole_batches_are_counted(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """For good, or with another attempt to come (DESIGN 5)."""
    recorder = Recorder()
    push(backend, repository, topic, "a", "b")

    def fail(_: object) -> None:
        raise ValueError

    options = {"listener": recorder, "claim": claim, "retry": RetryPolicy(2, timedelta())}
    with working(backend, repository, batch(fail), options=options) as worker:
        recorder.wait("error", 2)
        eventually(lambda: worker.health.topics[topic].failed == 2)
    statistics = worker.health.topics[topic]
    assert (statistics.completed, statistics.failed, statistics.retried, statistics.promoted) == (4, 2, 2, 2)


def test_a_processor_that_ended_is_not_healthy(backend: Backend, repository: Repository, topic: str) -> None:
    """The worker is alive, and a probe sees that something is missing (TM-22)."""
    broken = threading.Event()

    class Failing(TaskLimiter):
        """Works until it is broken."""

        def request(self, topic: str) -> TaskToken:
            """Give a slot."""
            if broken.is_set():
                raise RuntimeError(topic)
            return TaskLimiter.unlimited().request(topic)

    recorder = Recorder()
    with working(backend, repository, each(nothing), options={"limiter": Failing(), "listener": recorder}) as worker:
        recorder.wait("empty")
        assert worker.healthy is True
        broken.set()
        push(backend, repository, topic, "a")
        for processor in worker.processors.values():
            processor.resume()
        eventually(lambda: not worker.healthy)
        health = worker.health
        assert (health.alive, health.topics[topic].active, health.topics[topic].errors) == (True, False, 1)
        assert health.topics[topic].last_error == "RuntimeError('topic')"


def test_an_owner_used_again_takes_its_tasks_back(backend: Backend, repository: Repository, topic: str) -> None:
    """What an earlier process left under the same name expires like any other, and is done (OW-B1, OW-11, P2)."""
    push(backend, repository, topic, "a", "b", "c")
    [left] = poll(backend, repository, topic)
    other = backend.repository("other")
    [foreign] = poll(backend, other, topic)
    recorder = Recorder()
    with working(backend, repository, each(nothing), options={"listener": recorder, "size": 1}):
        eventually(lambda: len(recorder.names(without=("empty", "start", "callback", "dispatched"))) == 2)
    found = states(backend, repository, topic)
    assert (found.pop(foreign.sequence), set(found.values())) == (TaskState.ACTIVE, {TaskState.SUCCEEDED})
    stored = info(backend, repository, topic, left)
    assert (stored.attempt, stored.token > left.token) == (2, True)


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)], ids=["loop", "executor"])
def test_work_may_stop_its_own_worker(
    backend: Backend, repository: Repository, topic: str, executor: ThreadPoolExecutor | None
) -> None:
    """It does not wait for itself, and its batch is decided (TM-03)."""
    [task] = push(backend, repository, topic, "a")
    stopped = []
    with Gate() as gate:

        def work(_: Task) -> None:
            stopped.append(worker.stop())
            gate.pass_through()

        manager = TaskManager(topic, repository, backend.begin, each(work), executor=executor, pause=LONG)
        worker = Worker(repository, backend.begin, [manager])
        worker.start()
        gate.wait()
        # Whoever waits for its end finds the batch decided.
        assert (stopped, worker.active) == ([True], True)
        gate.open()
        worker.stop()
    assert (worker.active, manager.active) == (False, False)
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
