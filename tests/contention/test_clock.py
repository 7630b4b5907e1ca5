"""All times are the database's, in UTC and finer than a second, whatever a session believes (P8)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import TaskCreation, TaskDecision, TaskInfo
from tests.backends.steps import push
from tests.contention.plain_sql import execute

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")

NOW = {
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
    "postgresql": "SELECT clock_timestamp()",
    "oracle": "SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM DUAL",
}
EAST, WEST = "Pacific/Auckland", "America/Los_Angeles"


def now(backend: Backend, transaction: Transaction) -> datetime:
    """The database's present time."""
    [(moment,)] = execute(transaction, NOW[backend.name])
    if backend.name == "postgresql":
        return moment  # type: ignore[no-any-return]
    return datetime.fromisoformat(str(moment)).replace(tzinfo=UTC)


def stored(repository: TaskRepository[Any], transaction: Transaction, topic: str, sequence: int) -> TaskInfo:
    """The task, which must exist."""
    found = repository.task(transaction, topic, sequence)
    assert found is not None
    return found


def test_times_are_those_of_the_statement(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """In one long transaction each call stores its own time, not the transaction's (P8, CO-B5)."""
    moments = []
    with backend.begin() as transaction:
        moments.append(now(backend, transaction))
        repository.push(transaction, topic, "a")
        moments.append(now(backend, transaction))
        task = repository.poll(transaction, topic)
        assert task is not None
        moments.append(now(backend, transaction))
        repository.complete(transaction, topic, task)
        moments.append(now(backend, transaction))
        found = stored(repository, transaction, topic, task.sequence)
    assert found.polled is not None
    assert found.completed is not None
    noted = [found.created, found.polled, found.completed]
    assert [moment.utcoffset() for moment in noted] == [timedelta(0)] * 3
    for before, moment, after in zip(moments, noted, moments[1:], strict=False):
        assert before <= moment <= after


@pytest.mark.backends("postgresql")
def test_sessions_in_different_time_zones_agree(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """What one session writes means the same to one on the other side of the date line (P8, LI-22, OW-B3)."""
    east, west = backend.open(), backend.open()
    for transaction, zone in ((east, EAST), (west, WEST)):
        execute(transaction, f"SET TIME ZONE '{zone}'")
        backend.commit(transaction)
    other = backend.repository("other")
    repository.push(east, topic, TaskCreation("past", due=datetime.now(UTC) - timedelta(minutes=1)))
    repository.push(east, topic, TaskCreation("future", due=timedelta(minutes=1)))
    [held] = push(backend, repository, topic, "held")
    backend.commit(east)
    assert repository.poll(east, topic, lease=timedelta(minutes=1)) == held
    repository.heartbeat(east)
    backend.commit(east)
    assert other.expire(west, timedelta(minutes=1)) == 0
    assert other.owners(west, timedelta(minutes=1)) == {"me"}
    assert other.promote(west, topic) == 1
    backend.commit(west)
    assert other.next_due(west, topic) == repository.next_due(east, topic)
    times = [(task.created, task.due, task.polled, task.lease) for task in repository.page(east, topic)]
    assert times == [(task.created, task.due, task.polled, task.lease) for task in other.page(west, topic)]


@pytest.mark.backends("postgresql", "oracle")
def test_due_times_count_from_the_database_clock(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """A time from now, and a lease, are added to the database's clock at that call (P8)."""
    hour = timedelta(hours=1)
    with backend.begin() as transaction:
        before = now(backend, transaction)
        pushed = repository.push(transaction, topic, TaskCreation("a", due=hour))
        repository.push(transaction, topic, "b")
        [task] = repository.poll_many(transaction, topic, 1, lease=hour)
        lease = stored(repository, transaction, topic, task.sequence).lease
        repository.complete(transaction, topic, task, TaskDecision.retry(hour))
        due = [stored(repository, transaction, topic, each.sequence).due for each in (pushed, task)]
        after = now(backend, transaction)
    for moment in (*due, lease):
        assert moment is not None
        assert before <= moment - hour <= after


def test_times_are_finer_than_a_second(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Of some pushes not all fall on a whole second (P8, OW-B5)."""
    with backend.begin() as transaction:
        tasks = [repository.push(transaction, topic, "a") for _ in range(3)]
        found = [stored(repository, transaction, topic, task.sequence) for task in tasks]
    assert any(task.created.microsecond for task in found)
