"""Calls that sweep over tasks pass over those that others have locked, and wait for nobody."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Revivification, Task, TaskDecision, TaskResult, TaskState
from tests.backends.steps import complete, poll, push, states
from tests.contention import ledger, roles
from tests.contention.member import CROWD, part
from tests.contention.plain_sql import execute, hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.processes import Processes
    from tests.contention.threads import Threads

pytestmark = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")

HOUR = timedelta(hours=1)


def lock(backend: Backend, topic: str, task: Task) -> Transaction:
    """Open a transaction that has locked this task."""
    transaction = backend.open()
    statement = "SELECT 1 FROM task WHERE topic = :topic AND sequence = :sequence FOR UPDATE"
    assert execute(transaction, statement, topic=topic, sequence=task.sequence) == [(1,)]
    return transaction


def finished(backend: Backend, repository: TaskRepository[Any], topic: str, decision: TaskDecision) -> list[Task]:
    """Three tasks so decided."""
    push(backend, repository, topic, "a", "b", "c")
    tasks = poll(backend, repository, topic, 3)
    complete(backend, repository, topic, tasks, decision)
    return tasks


@servers
def test_expire_leaves_a_task_that_is_being_completed(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A dead owner that completes after all keeps what it has locked (OW-10, P2)."""
    slow, rescuer = backend.repository("slow"), repository
    push(backend, repository, topic, "a", "b", "c")
    tasks = poll(backend, slow, topic, 3)
    backend.age_owner("slow", 3600)
    completing, expiring = backend.open(), backend.open()
    slow.complete(completing, topic, tasks[0])
    hurry(expiring)
    assert rescuer.expire(expiring, roles.STALE) == 2
    backend.commit(expiring)
    backend.commit(completing)
    expected = [TaskState.SUCCEEDED, TaskState.EXPIRED, TaskState.EXPIRED]
    assert list(states(backend, repository, topic).values()) == expected


@servers
def test_purge_leaves_locked_tasks(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """A purge deletes what nobody has locked, and the rest the next time (PU-05)."""
    tasks = finished(backend, repository, topic, TaskDecision.SUCCESS)
    locking, purging = lock(backend, topic, tasks[1]), backend.open()
    hurry(purging)
    assert repository.purge(purging, topic) == 2
    backend.commit(purging)
    backend.rollback(locking)
    assert repository.purge(purging, topic) == 1
    backend.commit(purging)


@servers
@pytest.mark.parametrize("revivification", Revivification)
def test_revival_by_state_leaves_locked_tasks(
    backend: Backend, repository: TaskRepository[Any], topic: str, revivification: Revivification
) -> None:
    """Reviving by state takes the next unlocked ones, as many as asked for (RE-02, RE-12)."""
    tasks = finished(backend, repository, topic, TaskDecision.FAILURE)
    lock(backend, topic, tasks[0])
    reviving = backend.open()
    hurry(reviving)
    revived = repository.recreate_state(reviving, topic, revivification, TaskState.FAILED, size=2)
    assert list(revived) == tasks[1:]


@servers
def test_promote_leaves_locked_tasks(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Promoting takes what nobody has locked (RE-12, P3)."""
    tasks = finished(backend, repository, topic, TaskDecision.suspension(due=HOUR))
    backend.sql("UPDATE task SET due = created")
    lock(backend, topic, tasks[0])
    promoting = backend.open()
    hurry(promoting)
    assert repository.promote(promoting, topic) == 2


@servers
def test_reassigning_all_can_leave_locked_tasks(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """With skip_locked, reassigning by state takes what nobody has locked (RA-B1)."""
    tasks = finished(backend, repository, topic, TaskDecision.FAILURE)
    lock(backend, topic, tasks[0])
    reassigning = backend.open()
    hurry(reassigning)
    state, result = TaskState.FAILED, TaskResult.FILTER
    assert repository.reassign_all(reassigning, topic, state, result, skip_locked=True) == 2


@servers
def test_readers_wait_for_nobody(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Looking at tasks works while others have locked and changed them (LI-01, LI-08, LI-14)."""
    push(backend, repository, topic, "a", "b")
    changing, looking = backend.open(), backend.open()
    tasks = repository.poll_many(changing, topic, 2)
    repository.complete_many(changing, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
    hurry(looking)
    assert [task.state for task in repository.page(looking, topic)] == [TaskState.READY] * 2
    assert repository.count(looking)[topic][TaskState.READY].count == 2
    assert repository.results(looking) == {topic: {}}


SWEEPS: dict[str, Callable[..., list[int]]] = {
    "expire": roles.sweep_expire,
    "purge": roles.sweep_purge,
    "promote": roles.sweep_promote,
    "revive": roles.sweep_revive,
}


@pytest.mark.parametrize("sweep", SWEEPS)
def test_concurrent_sweeps_share_the_tasks(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes, sweep: str
) -> None:
    """Four that sweep at once handle each task once in total (OW-10, PU-05, RE-12)."""
    ledger.create(backend)
    number = 200
    push(backend, repository, topic, *map(str, range(number)))
    tasks = poll(backend, repository, topic, number, lease=HOUR)
    if sweep == "expire":
        backend.sql("UPDATE task SET lease = created")
    else:
        complete(backend, repository, topic, tasks, TaskDecision.suspension(due=HOUR))
        backend.sql("UPDATE task SET due = created")
    if sweep == "purge":
        with backend.begin() as transaction:
            repository.reassign_all(transaction, topic, TaskState.SUSPENDED, TaskResult.SUCCESS)
    counts = crowd.race(*(part(f"sweeper-{index}", SWEEPS[sweep], topic=topic) for index in range(CROWD)))
    assert sum(sum(each) for each in counts) == number
