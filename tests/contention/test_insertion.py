"""Insertion modes hold when pushes of one identifier overlap (P5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    Claim,
    Condition,
    Insertion,
    Order,
    Revivification,
    Task,
    TaskDecision,
    TaskState,
    TaskStateError,
)
from tests.backends.steps import complete, poll, push, states
from tests.contention import roles
from tests.contention.member import CROWD, TIMEOUT, part
from tests.contention.plain_sql import execute, hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")

REPLACE, SUPERSEDE, DELETE = Insertion.REPLACE, Insertion.SUPERSEDE, Insertion.DELETE
MODES = [REPLACE, SUPERSEDE, DELETE]
ADVISORY_LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"


def ready(backend: Backend) -> dict[str, list[int]]:
    """The sequences of the READY tasks by identifier."""
    found: dict[str, list[int]] = {}
    for identifier, sequence in backend.sql("SELECT identifier, sequence FROM task WHERE state = 1 ORDER BY sequence"):
        found.setdefault(identifier, []).append(sequence)
    return found


@pytest.mark.parametrize(
    "insertions",
    [[REPLACE] * 20, [SUPERSEDE] * 20, [DELETE] * 20, MODES * 7],
    ids=["replace", "supersede", "delete", "mixed"],
)
def test_overlapping_pushes_leave_the_last_one_ready(
    backend: Backend,
    topic: str,
    crowd: Threads | Processes,
    insertions: list[Insertion],
) -> None:
    """Of one identifier pushed by four at once the highest sequence alone is READY (P5, IN-B1)."""
    last = crowd.race(
        *(
            part(f"producer-{index}", roles.push_often, topic=topic, identifiers=["a"], insertions=insertions)
            for index in range(CROWD)
        )
    )
    assert ready(backend) == {"a": [max(last)]}


@pytest.mark.kinds("plain")
def test_overlapping_batches_leave_one_ready_of_each_identifier(
    backend: Backend, topic: str, crowd: Threads | Processes
) -> None:
    """Batches in any order neither deadlock nor leave two READY of an identifier (P5, IN-B1, IN-B3)."""
    identifiers = [f"identifier-{number}" for number in range(10)]
    crowd.race(
        *(
            part(
                f"producer-{index}",
                roles.push_often,
                topic=topic,
                identifiers=identifiers,
                insertions=[REPLACE, SUPERSEDE] * 10,
                seed=100 * index,
            )
            for index in range(CROWD)
        )
    )
    highest = dict(backend.sql("SELECT identifier, max(sequence) FROM task GROUP BY identifier"))
    assert ready(backend) == {identifier: [highest[identifier]] for identifier in identifiers}


def test_pollers_that_roll_back_bring_nothing_back(backend: Backend, topic: str, crowd: Threads | Processes) -> None:
    """Replaced while others poll it and roll back, an identifier has one READY task (P5, IN-B2)."""
    times = 20
    *last, _, _ = crowd.race(
        *(
            part(
                f"producer-{i}",
                roles.push_often,
                topic=topic,
                identifiers=["a"],
                insertions=[REPLACE] * times,
            )
            for i in range(CROWD // 2)
        ),
        *(part(f"poller-{i}", roles.poll_and_give_up, topic=topic, times=times) for i in range(CROWD // 2)),
    )
    assert ready(backend) == {"a": [max(last)]}


@pytest.mark.parametrize("revivification", [Revivification.REPLACE, Revivification.SUPERSEDE])
def test_recreating_and_replacing_at_once_do_not_deadlock(
    backend: Backend, topic: str, crowd: Threads | Processes, revivification: Revivification
) -> None:
    """A revival that replaces and pushes that replace leave one READY task of the identifier (P5, RE-05)."""
    times = 20
    half = CROWD // 2
    crowd.race(
        *(
            part(f"producer-{i}", roles.push_often, topic=topic, identifiers=["a"], insertions=[REPLACE] * times)
            for i in range(half)
        ),
        *(
            part(f"operator-{i}", roles.revive_often, topic=topic, revivification=revivification, times=times)
            for i in range(half)
        ),
    )
    [sequences] = ready(backend).values()
    assert len(sequences) == 1


@servers
def test_recreating_what_is_being_replaced_does_not_deadlock(
    backend: Backend, topic: str, actor: Callable[[str], Actor]
) -> None:
    """A revival takes its locks in the order in which a push takes them (P5, IN-B1)."""
    poller, producer, operator = actor("poller"), actor("producer"), actor("operator")
    push(backend, producer.repository, topic, "a", "a")
    failed = poller.run(lambda r, tx: r.poll_many(tx, topic, 1, order=Order.LAST_IN_FIRST_OUT))
    poller.run(lambda r, tx: r.complete(tx, topic, failed[0], TaskDecision.FAILURE))
    poller.commit()
    poller.run(lambda r, tx: r.poll(tx, topic))
    pushing = producer.start(lambda r, tx: _push_and_commit(r, tx, topic, REPLACE))
    producer.waits(pushing)
    reviving = operator.start(lambda r, tx: r.recreate(tx, topic, Revivification.REPLACE, failed))
    operator.waits(reviving)
    poller.rollback()
    pushing.result(TIMEOUT)
    assert isinstance(reviving.exception(TIMEOUT), TaskStateError | None)
    operator.commit()


@servers
@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize("insertion", MODES)
def test_task_whose_claim_is_rolled_back_does_not_stand_beside_its_replacement(
    backend: Backend,
    topic: str,
    actor: Callable[[str], Actor],
    insertion: Insertion,
    claim: Claim,
) -> None:
    """A push judges a task under an open claim only when that claim has ended (P5, IN-B2)."""
    poller, producer = actor("poller"), actor("producer")
    push(backend, producer.repository, topic, "a")
    assert poller.run(lambda r, tx: r.poll(tx, topic, claim=claim)) is not None
    pushing = producer.start(lambda r, tx: _push_and_commit(r, tx, topic, insertion))
    producer.waits(pushing)
    poller.rollback()
    replacement = pushing.result(TIMEOUT)
    assert ready(backend) == {"a": [replacement.sequence]}


@servers
@pytest.mark.parametrize("insertion", MODES)
def test_task_whose_claim_commits_meanwhile_stays_active(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    actor: Callable[[str], Actor],
    insertion: Insertion,
) -> None:
    """A claim that commits while a push waits for it is kept, as every ACTIVE task is (P5, IN-01, IN-02)."""
    [task] = push(backend, repository, topic, "a")
    poller, producer = actor("poller"), actor("producer")
    poller.run(lambda r, tx: r.poll(tx, topic))
    pushing = producer.start(lambda r, tx: _push_and_commit(r, tx, topic, insertion))
    producer.waits(pushing)
    poller.commit()
    replacement = pushing.result(TIMEOUT)
    assert states(backend, repository, topic) == {
        task.sequence: TaskState.ACTIVE,
        replacement.sequence: TaskState.READY,
    }


@servers
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_second_replacement_waits_for_the_first(
    backend: Backend, topic: str, actor: Callable[[str], Actor], end: str
) -> None:
    """Of two open replacements the later one stands, whatever becomes of the first (P5, IN-B1)."""
    first, second = actor("first"), actor("second")
    first.run(lambda r, tx: r.push(tx, topic, "a", insertion=REPLACE))
    pushing = second.start(lambda r, tx: _push_and_commit(r, tx, topic, REPLACE))
    second.waits(pushing)
    getattr(first, end)()
    replacement = pushing.result(TIMEOUT)
    assert ready(backend) == {"a": [replacement.sequence]}


@servers
def test_pushes_of_disjoint_identifiers_do_not_deadlock(
    backend: Backend, topic: str, crowd: Threads | Processes
) -> None:
    """Transactions that replace different identifiers in several calls never deadlock (P5)."""
    crowd.race(
        *(
            part(
                f"producer-{index}",
                roles.push_singly,
                topic=topic,
                rounds=[[f"{index}-{turn}-{number}" for number in range(60)] for turn in range(4)],
            )
            for index in range(CROWD)
        )
    )
    assert len(ready(backend)) == CROWD * 4 * 60


@servers
def test_appending_waits_for_nobody(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """APPEND has no order to keep, so an open replacement does not hold it up (P5, IN-01)."""
    replacing, appending = backend.open(), backend.open()
    repository.push(replacing, topic, "a", insertion=REPLACE)
    hurry(appending)
    assert repository.push(appending, topic, "a").identifier == "a"


def test_transaction_of_thousands_of_single_replacements_works(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """5,000 single REPLACE pushes of one transaction do not use up the server's locks (P5)."""
    number = 1000 if backend.name == "oracle" else 5000  # whose rows know their locks
    with backend.begin() as transaction:
        for index in range(number):
            repository.push(transaction, topic, f"identifier-{index}", insertion=REPLACE)
        if backend.name == "postgresql":
            # A server with the default settings has 6,400 slots for the locks of all its transactions.
            [(locks,)] = execute(transaction, ADVISORY_LOCKS)
            assert locks <= 3200
    assert len(ready(backend)) == number


def test_batch_of_twenty_thousand_replacements_works(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """20,000 identifiers in one REPLACE push and one SINGULAR poll fit the server's locks (P5, P4, IN-19)."""
    number = backend.many(20_000)
    with backend.begin() as transaction:
        tasks: list[Task] = repository.push_many(
            transaction, topic, [f"identifier-{index}" for index in range(number)], insertion=REPLACE
        )
    with backend.begin() as transaction:
        condition = Condition.SINGULAR_BY_IDENTIFIER
        assert repository.poll_many(transaction, topic, number, condition=condition) == tasks
        if backend.name == "postgresql":
            [(locks,)] = execute(transaction, ADVISORY_LOCKS)
            assert locks <= 3200


@pytest.mark.backends("postgresql")
def test_locks_on_identifiers_leave_nothing_behind(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Whoever replaces or revives tasks, in vain or not, has no rows left where he waited for others (P5)."""
    left = "SELECT count(*) FROM task_mutex WHERE key NOT BETWEEN 1 AND 5000"
    first, second = push(backend, repository, topic, "a", "b")
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.FAILURE)
    with backend.begin() as transaction, pytest.raises(TaskStateError):
        repository.recreate(transaction, topic, Revivification.REPLACE, [first, second])
    assert backend.sql(left) == [(0,)]
    with backend.begin() as transaction:
        other = backend.open()
        assert repository.recreate_state(other, topic, Revivification.RESET, TaskState.FAILED)
        assert repository.recreate_state(transaction, topic, Revivification.REPLACE, TaskState.FAILED) == {}
        backend.close(other)
    assert backend.sql(left) == [(0,)]
    with backend.begin() as transaction:
        assert repository.recreate_state(transaction, topic, Revivification.SUPERSEDE, TaskState.FAILED)
        repository.push(transaction, topic, "b", insertion=REPLACE)
        repository.push(transaction, topic, "c", insertion=Insertion.UNIQUE)
    assert backend.sql(left) == [(0,)]


def _push_and_commit(
    repository: TaskRepository[Any], transaction: Transaction, topic: str, insertion: Insertion
) -> Task:
    task = repository.push(transaction, topic, "a", insertion=insertion)
    transaction.commit()
    return task
