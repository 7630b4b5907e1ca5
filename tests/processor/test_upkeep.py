"""What a worker does beside the work: beating, expiring, reviving, promoting, forgetting."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Revivification, Task, TaskDecision, TaskInfo, TaskRepository, TaskState
from task_processor import PersistentTaskProcessor, RetryPolicy, TaskManager, TaskProcessor, Worker, each
from task_processor.due import DueClock
from task_processor.maintenance import Maintenance
from task_processor.repeater import Job, Repeater
from tests.backends.steps import info, poll, push, states
from tests.processor.support import BRISK, LONG, PATIENCE, Gate, Recorder, Shaky, eventually, working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
HOUR = timedelta(hours=1)


def nothing(_: Task) -> None:
    """Succeed."""


def leave_behind(backend: Backend, topic: str, *identifiers: str) -> list[Task]:
    """Tasks that an owner claimed before it died."""
    ghost = backend.repository("ghost")
    push(backend, ghost, topic, *identifiers)
    tasks = poll(backend, ghost, topic, len(identifiers))
    backend.age_owner("ghost", 7200)
    return tasks


def test_the_worker_beats(backend: Backend, repository: Repository, topic: str) -> None:
    """Others see the owner alive, again and again (OW-03, OW-04, OW-13)."""
    other = backend.repository("other")

    def alive() -> set[str]:
        with backend.begin() as tx:
            return other.owners(tx, timedelta(minutes=1))

    with working(backend, repository, each(nothing), topic=topic) as worker:
        for _ in range(2):
            backend.age_owner("me", 7200)
            eventually(lambda: alive() == {"me"})
        assert (worker.health.errors, worker.healthy) == ({}, True)


def test_heartbeats_do_not_wait_for_work(backend: Backend, repository: Repository, topic: str) -> None:
    """They have transactions of their own, from a pool of their own if need be (OW-03, DESIGN 5)."""
    push(backend, repository, topic, "a")
    pool = threading.Semaphore(1)
    beats: list[str] = []

    @contextmanager
    def one_at_a_time() -> Iterator[Transaction]:
        with pool, backend.begin() as tx:
            yield tx

    @contextmanager
    def beat() -> Iterator[Transaction]:
        beats.append(threading.current_thread().name)
        with backend.begin() as tx:
            yield tx

    with Gate() as gate:
        manager = TaskManager(topic, repository, one_at_a_time, each(gate.pass_through), pause=LONG)
        with Worker(repository, one_at_a_time, [manager], beat_dispatcher=beat, **BRISK):
            gate.wait()
            with pool:
                number = len(beats)
                eventually(lambda: len(beats) > number + 2)
            gate.open()
    assert set(beats[1:]) == {"task-heartbeat"}


def test_a_forgotten_owner_registers_again(backend: Backend, repository: Repository, topic: str) -> None:
    """A worker that was taken for dead goes on, and polls at once (OW-03, OW-14)."""
    recorder = Recorder()
    with working(backend, repository, each(nothing), options={"listener": recorder}) as worker:
        recorder.wait("empty")
        push(backend, repository, topic, "a")
        backend.sql("DELETE FROM task_owner WHERE owner = 'me'")
        recorder.wait("complete")
        assert worker.healthy is True


def test_a_missed_beat_is_tried_again_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Not only when the next one would be due (OW-03)."""
    shaky, recorder = Shaky(backend), Recorder()
    manager = TaskManager(topic, repository, backend.begin, each(nothing), listener=recorder, pause=LONG)
    worker = Worker(repository, backend.begin, [manager], beat_dispatcher=shaky.begin, heartbeat=timedelta(seconds=2))
    with worker:
        recorder.wait("empty")
        shaky.down.set()
        eventually(lambda: shaky.refused > 3)
        assert "the database is away" in worker.health.errors["the heartbeat"]
        shaky.down.clear()
        eventually(lambda: not worker.health.errors)
        recorder.wait("empty", 2)


@pytest.mark.parametrize(
    ("on_expired", "expected"),
    [
        (Revivification.RESET, [TaskState.SUCCEEDED]),
        (Revivification.APPEND, [TaskState.RECREATED, TaskState.SUCCEEDED]),
        (None, [TaskState.EXPIRED]),
    ],
)
def test_what_the_dead_left_is_done(
    backend: Backend,
    repository: Repository,
    topic: str,
    on_expired: Revivification | None,
    expected: list[TaskState],
) -> None:
    """It expires, and is brought back as wanted, or not at all (OW-05, OW-06, OW-11, OW-12, OW-13)."""
    [task] = leave_behind(backend, topic, "a")
    with working(backend, repository, each(nothing), on_expired=on_expired) as worker:
        eventually(lambda: list(states(backend, repository, topic).values()) == expected)
    health = worker.health
    assert (health.expired, health.topics[topic].revived) == (1, 0 if on_expired is None else 1)
    if on_expired is Revivification.RESET:
        assert info(backend, repository, topic, task).attempt == 2


def test_other_topics_are_left_to_others(backend: Backend, repository: Repository, topic: str) -> None:
    """All that the dead left expires, but only the worker's own topics are revived (OW-05, OW-12)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    [own], [foreign] = leave_behind(backend, topic, "a"), leave_behind(backend, "other", "b")
    with working(backend, repository, each(nothing)) as worker:
        eventually(lambda: info(backend, repository, topic, own).state is TaskState.SUCCEEDED)
        eventually(lambda: worker.health.expired == 2)
    assert info(backend, repository, "other", foreign).state is TaskState.EXPIRED


def test_a_lot_is_revived_bit_by_bit(backend: Backend, repository: Repository, topic: str) -> None:
    """However much was left, all of it is brought back at once, but in no large transaction (OW-12, RE-12)."""
    leave_behind(backend, topic, *map(str, range(1200)))
    with backend.begin() as tx:
        assert repository.expire(tx, HOUR) == 1200
    sizes: list[int] = []

    class Counting:
        """Counts what is revived at once."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def recreate_state(self, *arguments: Any, **options: Any) -> dict[Task, Task]:
            """Count."""
            found = repository.recreate_state(*arguments, **options)
            sizes.append(len(found))
            return found

    counting: Any = Counting()
    with working(backend, counting, each(nothing), heartbeat=HOUR / 4, expiry=HOUR) as worker:
        eventually(lambda: worker.health.topics[topic].completed == 1200)
    assert [size for size in sizes if size] == [500, 500, 200]


def test_work_that_kills_its_process_ends_at_last(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that expired at its last attempt failed; one that has attempts left is tried again (OW-12)."""
    [deadly, other] = leave_behind(backend, topic, "deadly", "other")
    backend.sql("UPDATE task SET attempt = 3 WHERE sequence = :number", number=deadly.sequence)
    retry = RetryPolicy(3)
    with working(backend, repository, each(nothing), options={"retry": retry}) as worker:
        eventually(lambda: info(backend, repository, topic, other).state is TaskState.SUCCEEDED)
        eventually(lambda: info(backend, repository, topic, deadly).state is TaskState.FAILED)
    assert "expired at attempt 3, which was the last" in (info(backend, repository, topic, deadly).output or "")
    assert worker.health.topics[topic].revived == 1


def test_however_many_had_all_their_attempts(backend: Backend, repository: Repository, topic: str) -> None:
    """None of them is brought back once more, and one behind them is (OW-12)."""
    tasks = leave_behind(backend, topic, *map(str, range(601)))
    backend.sql("UPDATE task SET attempt = 3 WHERE sequence <> :number", number=tasks[-1].sequence)
    with working(backend, repository, each(nothing), options={"retry": RetryPolicy(3)}) as worker:
        eventually(lambda: info(backend, repository, topic, tasks[-1]).state is TaskState.SUCCEEDED)
        assert worker.health.topics[topic].revived == 1
    assert Counter(states(backend, repository, topic).values()) == {TaskState.FAILED: 600, TaskState.SUCCEEDED: 1}


@pytest.mark.backends("postgresql")  # SQLite knows one writer
def test_what_succeeded_meanwhile_is_not_given_up(backend: Backend, repository: Repository, topic: str) -> None:
    """Somebody may bring a task back, and have it done, while it is judged (OW-12, DESIGN 4)."""
    [task] = leave_behind(backend, topic, "a")
    with backend.begin() as tx:
        assert repository.expire(tx, HOUR) == 1

    class Overtaken:
        """Has a task done by others once it was looked at."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def page(self, *arguments: Any, **options: Any) -> list[TaskInfo]:
            """Look, and be late."""
            found = repository.page(*arguments, **options)
            with backend.begin() as tx:
                repository.recreate(tx, topic, Revivification.RESET, found)
            with backend.begin() as tx:
                repository.complete_many(
                    tx, topic, dict.fromkeys(poll(backend, repository, topic), TaskDecision.SUCCESS)
                )
            return found

    manager = TaskManager(topic, repository, backend.begin, each(nothing), retry=RetryPolicy(1))
    overtaken: Any = Overtaken()
    maintenance = Maintenance(overtaken, backend.begin, {topic: manager}, HOUR, Revivification.RESET)
    maintenance.revive(lambda: False)
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_a_processor_that_can_not_follow_keeps_no_other_from_it(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """What is stored about the others counts all the same, and the error is told (PN-02)."""

    class Broken(TaskManager[Any]):
        """Raises instead of following."""

        def follow(self) -> None:
            """Raise."""
            raise ZeroDivisionError

    with backend.begin() as tx:
        repository.initialize(tx, "broken")
    manager = TaskManager(topic, repository, backend.begin, each(nothing))
    processors: list[TaskProcessor] = [
        Broken("broken", repository, backend.begin, each(nothing)),
        PersistentTaskProcessor(manager, repository, backend.begin),
    ]
    worker = Worker(repository, backend.begin, processors, **BRISK)
    with worker:
        assert manager.active is False
        with backend.begin() as tx:
            repository.activate(tx, topic, active=True)
        eventually(lambda: manager.active)
        eventually(lambda: worker.health.errors == {"following activations": "ZeroDivisionError()"})


def test_ended_leases_of_the_living_expire_too(backend: Backend, repository: Repository, topic: str) -> None:
    """A claim with a lease ends although its owner beats (OW-09, DESIGN 3)."""
    push(backend, repository, topic, "a")
    other = backend.repository("other")
    [task] = poll(backend, other, topic, lease=timedelta())
    with working(backend, repository, each(nothing)):
        eventually(lambda: info(backend, repository, topic, task).state is TaskState.SUCCEEDED)


def test_nobody_is_judged_before_all_had_their_chance(backend: Backend, repository: Repository, topic: str) -> None:
    """After a start, as after a gap, others may be about to beat themselves (OW-05)."""
    [task] = leave_behind(backend, topic, "a")
    promotions = threading.Semaphore(0)

    class Watching:
        """Tells of every promotion."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository's own
            return getattr(repository, name)

        def promote(self, *arguments: Any) -> int:
            """Tell."""
            promotions.release()
            return repository.promote(*arguments)

    watching: Any = Watching()
    with working(backend, watching, each(nothing), heartbeat=HOUR / 4, expiry=HOUR) as worker:
        # Before each promotion there was time to expire.
        for _ in range(3):
            assert promotions.acquire(timeout=PATIENCE)
        assert worker.health.expired == 0
    assert info(backend, repository, topic, task).state is TaskState.ACTIVE


def test_due_tasks_are_promoted(backend: Backend, repository: Repository, topic: str) -> None:
    """Retries of its own and what others created, in all its topics, and never too early (P8, DESIGN 3)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    done: list[tuple[str, str]] = []

    def work(topic: str, task: Task) -> TaskDecision | None:
        if task.attempt == 1 and task.identifier == "again":
            return TaskDecision.retry(timedelta(milliseconds=100))
        done.append((topic, task.identifier))
        return None

    push(backend, repository, topic, "again")
    push(backend, repository, topic, "soon", due=timedelta(milliseconds=200))
    push(backend, repository, "other", "past", due=datetime.now(UTC) - HOUR)
    [later] = push(backend, repository, "other", "later", due=HOUR)
    managers = [
        TaskManager(name, repository, backend.begin, each(lambda task, name=name: work(name, task)), pause=LONG)
        for name in (topic, "other")
    ]
    with Worker(repository, backend.begin, managers) as worker:
        eventually(lambda: len(done) == 3)
    assert set(done) == {(topic, "again"), (topic, "soon"), ("other", "past")}
    assert [worker.health.topics[name].promoted for name in (topic, "other")] == [2, 1]
    assert info(backend, repository, "other", later).state is TaskState.SUSPENDED


def test_a_promotion_is_not_late(backend: Backend, repository: Repository, topic: str) -> None:
    """The worker asks no later than the next task is due, however seldom it asks otherwise (DESIGN 5)."""
    push(backend, repository, topic, "a", due=timedelta(milliseconds=300))
    recorder = Recorder()
    with working(backend, repository, each(nothing), options={"listener": recorder}, promotion=HOUR):
        recorder.wait("complete")


def test_dead_owners_are_forgotten(backend: Backend, repository: Repository, topic: str) -> None:
    """Those that no task names, once they have been silent for long (PU-06)."""
    backend.repository("dead")
    backend.repository("alive")
    backend.age_owner("dead", 7200)

    def owners() -> set[str]:
        return {owner for (owner,) in backend.sql("SELECT owner FROM task_owner")}

    with working(backend, repository, each(nothing), topic=topic, purge=timedelta(milliseconds=50)):
        eventually(lambda: owners() == {"me", "alive"})


def test_several_workers_do_the_same_upkeep(backend: Backend, repository: Repository, topic: str) -> None:
    """They do not wait for each other, and everything is done once (OW-10, PO-05)."""
    number = 300
    leave_behind(backend, topic, *map(str, range(number)))
    push(backend, repository, topic, *map(str, range(number)), due=timedelta())
    workers = [backend.repository(f"worker {index}") for index in range(3)]
    done: list[Task] = []
    with ExitStack() as stack:
        for worker in workers:
            stack.enter_context(working(backend, worker, each(done.append), options={"size": 10}))
        eventually(lambda: len(done) >= 2 * number)
    assert len(done) == len({task.sequence for task in done}) == 2 * number
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


@pytest.mark.parametrize("skew", [3600.0, 5.0, 0.3, 0.0, -0.3, -5.0, -3600.0])
def test_the_clock_of_the_database_is_learned(skew: float) -> None:
    """Whatever this machine's clock says, waits become right once something was due (P8)."""
    now, questions, lateness = 1_000_000.0, list[int](), list[float]()
    clock = DueClock(lambda: now, guess=0.0)
    for _ in range(10):
        due, asked = now + skew + 10.2, 0
        moment = datetime.fromtimestamp(due, UTC)
        while now + skew < due:
            asked += 1
            # The worker asks every second at least.
            now += min(clock.is_due_in(moment, now).total_seconds(), 1.0) + 0.001
        clock.was_due(moment)
        questions.append(asked)
        lateness.append(now + skew - due)
    assert max(lateness) <= 1.1
    assert max(lateness[3:]) <= 0.1
    assert max(questions) <= 30


def test_a_moment_that_does_not_come_is_asked_for_ever_later() -> None:
    """A clock that is far ahead costs few questions (P8)."""
    clock = DueClock()
    waits = [clock.is_due_in(datetime.now(UTC) - HOUR, time.monotonic()) for _ in range(40)]
    assert waits[0] < timedelta(milliseconds=50)
    assert all(later == 2 * earlier for earlier, later in pairwise(waits[:20]))
    assert waits[-1] > timedelta(days=1)


def test_what_fails_is_repeated_soon_and_what_works_seldom() -> None:
    """A job that failed is tried again long before its time, and hurried when all is well again (TM-B3)."""
    calls: list[str] = []
    tried, returned = threading.Event(), threading.Event()

    def fail() -> None:
        calls.append("fail")
        if len(calls) < 4:
            raise ValueError
        tried.set()

    later = Job("later", HOUR, lambda: calls.append("later"), first=HOUR)
    repeater = Repeater("task-test", [Job("job", HOUR, fail), later], returned.set)
    repeater.start()
    assert tried.wait(PATIENCE)
    assert returned.wait(PATIENCE)
    assert (repeater.alive, repeater.errors, calls) == (True, {}, ["fail"] * 4)
    tried.clear()
    repeater.hurry()
    assert tried.wait(PATIENCE)
    assert repeater.stop() is True
    assert "later" not in calls


def test_no_error_ends_a_repeater() -> None:
    """Neither one of a job, whatever it is, nor one of who hears that it works again (TM-21)."""
    errors: Iterator[BaseException] = iter([SystemExit(), KeyboardInterrupt(), ValueError()])
    done = threading.Event()

    def work() -> None:
        for error in errors:
            raise error
        done.set()

    repeater = Repeater("task-test", [Job("job", timedelta(milliseconds=1), work)], lambda: 1 / 0)
    repeater.start()
    assert done.wait(PATIENCE)
    done.clear()
    assert done.wait(PATIENCE)
    assert repeater.stop() is True
