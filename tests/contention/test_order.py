"""A poll takes the lowest or highest eligible sequences, in order, whoever else polls (P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import task_sql
from task_api import Condition, Order, Revivification, Task, TaskDecision, TaskState
from tests.backends.steps import complete, info, poll, push
from tests.contention import ledger, roles
from tests.contention.member import CROWD, part
from tests.contention.plain_sql import hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.backends.provision import PostgresProvision
    from tests.contention.processes import Processes
    from tests.contention.threads import Threads

pytestmark = pytest.mark.kinds("driver")

FIFO, LIFO = Order.FIRST_IN_FIRST_OUT, Order.LAST_IN_FIRST_OUT


@pytest.mark.parametrize("order", [FIFO, LIFO])
def test_concurrent_pollers_share_the_tasks_in_order(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes, order: Order
) -> None:
    """Four pollers get each task once, every batch and every poller's batches in order (P3, PO-04, PO-16)."""
    ledger.create(backend)
    pushed = push(backend, repository, topic, *map(str, range(300)))
    polled = crowd.race(
        *(part(f"poller-{index}", roles.drain, topic=topic, size=7, order=order) for index in range(CROWD))
    )
    for batches in polled:
        sequences = [sequence for batch in batches for sequence in batch]
        assert sequences == sorted(sequences, reverse=order is LIFO)
    everything = sorted(sequence for batches in polled for batch in batches for sequence in batch)
    assert everything == [task.sequence for task in pushed]
    assert set(ledger.ends(backend).values()) == {1}


@pytest.mark.parametrize("owners", [["me"] * CROWD, ["a", "b", "c", "d"]], ids=["shared", "apart"])
def test_nothing_is_overlooked(backend: Backend, topic: str, crowd: Threads | Processes, owners: list[str]) -> None:
    """Tasks pushed late, released and rolled back are all found, by one repository or several (P1, P3, PO-17)."""
    batches = {"sqlite": 8, "postgresql": 80, "oracle": 10}[backend.name]
    done = crowd.race(
        *(part(owner, roles.roam, topic=topic, batches=batches, seed=seed) for seed, owner in enumerate(owners))
    )
    assert backend.sql("SELECT state, count(*) FROM task GROUP BY state") == [(TaskState.SUCCEEDED, sum(done))]
    assert sum(done) == CROWD * batches * 50


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.parametrize("order", [FIFO, LIFO])
def test_poll_passes_over_an_open_claim_without_waiting(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order
) -> None:
    """A second poll takes the next ones; rolled back ones come first again (P3, PO-05, PO-16, PO-17)."""
    tasks = push(backend, repository, topic, *map(str, range(6)))[:: -1 if order is LIFO else 1]
    other = backend.repository("other")
    first, second = backend.open(), backend.open()
    assert repository.poll_many(first, topic, 2, order=order) == tasks[:2]
    hurry(second)
    assert other.poll_many(second, topic, 2, order=order) == tasks[2:4]
    backend.rollback(first)
    assert info(backend, repository, topic, tasks[0]).owner is None
    assert repository.poll_many(first, topic, 3, order=order) == [tasks[0], tasks[1], tasks[4]]
    backend.commit(first)
    backend.commit(second)
    assert poll(backend, repository, topic, 9, order=order) == [tasks[5]]


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.parametrize("between", [0, 5, 1000])
@pytest.mark.kinds("plain")
def test_lower_sequence_that_commits_late_is_next(
    backend: Backend, repository: TaskRepository[Any], topic: str, between: int
) -> None:
    """A push committed after younger ones were polled is the next to be polled (P3, PO-22)."""
    producer = backend.open()
    late = backend.repository("other").push(producer, topic, "late")
    younger = push(backend, repository, topic, *map(str, range(between + 1)))
    assert _poll_in_batches(backend, repository, topic, between) == younger[:between]
    backend.commit(producer)
    assert poll(backend, repository, topic) == [late]
    assert poll(backend, repository, topic) == younger[between:]


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.parametrize("between", [5, 1000])
def test_claim_that_another_rolls_back_is_next(
    backend: Backend, repository: TaskRepository[Any], topic: str, between: int
) -> None:
    """A task whose open claim another repository rolls back is the next to be polled (P3, PO-17)."""
    first, *younger = push(backend, repository, topic, *map(str, range(between + 2)))
    claiming = backend.open()
    assert backend.repository("other").poll(claiming, topic) == first
    assert _poll_in_batches(backend, repository, topic, between) == younger[:between]
    backend.rollback(claiming)
    assert poll(backend, repository, topic, 2) == [first, younger[between]]


@pytest.mark.backends("postgresql", "oracle")
def test_own_claims_that_are_rolled_back_are_next(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """What a repository polled in a long transaction of its own is there again when that rolls back (P3, PO-17)."""
    first, *younger = push(backend, repository, topic, *map(str, range(2500)))
    claiming, long = backend.open(), backend.open()
    assert backend.repository("other").poll(claiming, topic) == first
    assert _poll_in_batches(backend, repository, topic, 1200) == younger[:1200]
    backend.rollback(claiming)
    polled = [task for _ in range(12) for task in repository.poll_many(long, topic, 100)]
    assert polled == [first, *younger[1200:2399]]
    backend.rollback(long)
    assert poll(backend, repository, topic, 2) == [first, younger[1200]]


def _released(backend: Backend, other: TaskRepository[Any], topic: str) -> Callable[[], object]:
    tasks = poll(backend, other, topic)
    return lambda: _in_transaction(backend, lambda tx: other.release(tx, topic, tasks))


def _reset(backend: Backend, other: TaskRepository[Any], topic: str) -> Callable[[], object]:
    tasks = poll(backend, other, topic)
    complete(backend, other, topic, tasks, TaskDecision.FAILURE)
    return lambda: _in_transaction(
        backend, lambda tx: other.recreate_state(tx, topic, Revivification.RESET, TaskState.FAILED)
    )


def _promoted(backend: Backend, other: TaskRepository[Any], topic: str) -> Callable[[], object]:
    complete(backend, other, topic, poll(backend, other, topic), TaskDecision.suspension(due=roles.STALE))
    backend.sql("UPDATE task SET due = created")
    return lambda: _in_transaction(backend, lambda tx: other.promote(tx, topic))


def _joined(backend: Backend, other: TaskRepository[Any], topic: str) -> Callable[[], object]:
    complete(backend, other, topic, poll(backend, other, topic), TaskDecision.SUSPENSION)
    return lambda: _in_transaction(backend, lambda tx: other.junction(tx, topic, [["returning"]]))


@pytest.mark.parametrize("between", [5, 1000])
@pytest.mark.parametrize("leave", [_released, _reset, _promoted, _joined])
@pytest.mark.kinds("plain")
def test_lower_sequence_that_another_repository_brings_back_is_next(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    leave: Callable[[Backend, TaskRepository[Any], str], Callable[[], object]],
    between: int,
) -> None:
    """A released, reset, promoted or joined task is next, at its old place (P3, RE-09)."""
    [returning] = push(backend, repository, topic, "returning")
    bring_back = leave(backend, backend.repository("other"), topic)
    younger = push(backend, repository, topic, *map(str, range(between + 1)))
    assert _poll_in_batches(backend, repository, topic, between) == younger[:between]
    bring_back()
    assert poll(backend, repository, topic) == [returning]
    assert poll(backend, repository, topic) == younger[between:]


def test_younger_tasks_are_next_for_last_in_first_out(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """LIFO takes what was pushed last by another repository, also after a thousand polls (P3, PO-04)."""
    other = backend.repository("other")
    tasks = push(backend, other, topic, *map(str, range(1001)))
    assert poll(backend, repository, topic, 1000, order=LIFO) == tasks[:0:-1]
    [newest] = push(backend, other, topic, "newest")
    assert poll(backend, repository, topic, 2, order=LIFO) == [newest, tasks[0]]


def _poll_in_batches(backend: Backend, repository: TaskRepository[Any], topic: str, number: int) -> list[Task]:
    """Poll so often that a repository which remembers how far it came has something to remember."""
    size = max(1, number // 20)
    tasks: list[Task] = []
    while len(tasks) < number:
        tasks += poll(backend, repository, topic, size)
    return tasks


def _in_transaction(backend: Backend, call: Callable[[Any], object]) -> None:
    with backend.begin() as transaction:
        assert call(transaction) is not False


@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER])
def test_database_that_counts_anew_is_polled_from_its_start(
    backend: Backend, repository: TaskRepository[Any], topic: str, condition: Condition
) -> None:
    """A repository that has come far elsewhere overlooks nothing where the numbers are low again (P1, P3)."""
    for _ in range(3):
        push(backend, repository, topic, *map(str, range(600)))
        complete(backend, repository, topic, poll(backend, repository, topic, 600))
    with backend.begin() as transaction:
        task_sql.schema.uninstall(transaction)
        task_sql.schema.install(transaction, partitioned=backend.partitioned)
        repository.register(transaction)
        repository.initialize(transaction, topic)
    pushed = push(backend, repository, topic, "low")
    assert poll(backend, repository, topic, 5, condition=condition) == pushed


def _come_far(backend: Backend, repository: TaskRepository[Any], topic: str) -> int:
    """Push and decide until the repository knows how far it has come; return the lowest number."""
    dialect: Any = repository._dialect  # type: ignore[attr-defined]  # noqa: SLF001 - where it is known
    # Transactions of other tests can put that off.
    while not any(head.floor.sequence for head in dialect._heads.values()):  # noqa: SLF001
        push(backend, repository, topic, *map(str, range(600)))
        complete(backend, repository, topic, poll(backend, repository, topic, 600))
    [(low,)] = backend.sql("SELECT min(sequence) FROM task")
    return int(low)


@pytest.mark.backends("postgresql")
@pytest.mark.parametrize("above", [0, 20], ids=["idle", "busy"])
def test_task_that_was_made_ready_by_hand_is_found(
    backend: Backend, repository: TaskRepository[Any], topic: str, above: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However far the numbers are and whatever else there is to do, a topic is looked at from the start (P1, P3)."""
    monkeypatch.setattr("task_sql.postgresql.floor._TRUSTED", 0.0)
    low = _come_far(backend, repository, topic)
    push(backend, repository, topic, *map(str, range(above)))
    backend.sql("UPDATE task SET state = 1 WHERE sequence = :low", low=low)
    assert poll(backend, repository, topic, 5)[0].sequence == low


@pytest.mark.backends("postgresql")
def test_identifiers_that_came_back_are_found_behind_a_blocked_head(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A repository that knows who waits at the head forgets it when the numbers have gone back (P1, P4)."""
    until = Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
    push(backend, repository, topic, "stuck", "stuck")
    complete(backend, repository, topic, poll(backend, repository, topic, condition=until), TaskDecision.FAILURE)
    push(backend, repository, topic, *(f"hot {number % 5}" for number in range(3_000)))
    dialect: Any = repository._dialect  # type: ignore[attr-defined]  # noqa: SLF001 - where it is known
    while not any(head.backlog.known[1] for head in dialect._heads.values()):  # noqa: SLF001
        complete(backend, repository, topic, poll(backend, repository, topic, 10, condition=until))
    backend.sql("DELETE FROM task WHERE sequence > 2000 AND state = 1")
    backend.sql("SELECT setval('task_sequence', (SELECT max(sequence) FROM task))")
    while tasks := poll(backend, repository, topic, 100, condition=until):
        complete(backend, repository, topic, tasks)
    new = push(backend, repository, topic, *(f"new {number}" for number in range(20)))
    assert poll(backend, repository, topic, 100, condition=until) == new


@pytest.mark.backends("postgresql")
def test_databases_are_told_apart(
    backend: Backend, repository: TaskRepository[Any], topic: str, postgresql_provision: PostgresProvision
) -> None:
    """What a repository knows about a topic in one database does not count in another (P3)."""
    _come_far(backend, repository, topic)
    with postgresql_provision.create(partitioned=True, topics=(topic,)) as url:
        engine = task_sql.create_engine(url)
        with engine.begin() as tx:
            repository.register(tx)
            pushed = repository.push_many(tx, topic, map(str, range(3_000)))
            assert repository.poll_many(tx, topic, 5) == pushed[:5]
        engine.dispose()
