"""Nothing is lost: a process killed at any point leaves its tasks to others (P1)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import Revivification, TaskState
from tests.backends.steps import poll, push, states
from tests.contention import ledger, roles
from tests.contention.member import CROWD, TIMEOUT, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Process
    from tests.contention.threads import Actor

pytestmark = pytest.mark.kinds("driver")

LEFT_OPEN = """
SELECT 1 FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
"""


def kill(backend: Backend, process: Process) -> None:
    """Kill a process and wait until its database has noticed."""
    process.kill()
    if backend.on_postgresql:
        deadline = time.monotonic() + TIMEOUT
        with psycopg.connect(backend.dsn, autocommit=True) as connection:
            while connection.execute(LEFT_OPEN).fetchall():
                assert time.monotonic() < deadline, "the server keeps a dead client's transaction"


@pytest.mark.parametrize("stage", ["pushing", "replacing", "polling", "holding"])
def test_process_killed_in_an_open_transaction_leaves_no_trace(
    backend: Backend, repository: TaskRepository[Any], topic: str, hire: Callable[[], Process], stage: str
) -> None:
    """Killed before the commit of a push, a poll or a decision: all is as before (P1, PO-17)."""
    ledger.create(backend)
    tasks = push(backend, repository, topic, "a", "b", "c")
    process = hire()
    process.start(backend.url, part("doomed", roles.hang, topic=topic, stage=stage, size=2))
    assert process.expect() == stage
    kill(backend, process)
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY for task in tasks}
    assert poll(backend, repository, topic, 9) == tasks
    assert ledger.ends(backend) == {}


@pytest.mark.parametrize("stage", ["claimed", "completing"])
def test_process_killed_while_it_works_leaves_its_tasks_to_be_expired(
    backend: Backend, repository: TaskRepository[Any], topic: str, hire: Callable[[], Process], stage: str
) -> None:
    """Killed between claim and decision: ACTIVE, EXPIRED, and then done once (P1, OW-05)."""
    ledger.create(backend)
    tasks = push(backend, repository, topic, "a", "b", "c")
    process = hire()
    process.start(backend.url, part("doomed", roles.hang, topic=topic, stage=stage, size=2))
    assert process.expect() == stage
    kill(backend, process)
    held = TaskState.ACTIVE
    assert list(states(backend, repository, topic).values()) == [held, held, TaskState.READY]
    assert rescue(backend, repository, topic) == 2
    _work_off(backend, topic, hire())
    assert ledger.ends(backend) == {task.sequence: 1 for task in tasks}


def test_consumers_killed_at_random_lose_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, hire: Callable[[], Process]
) -> None:
    """Four consumers killed wherever they are: after a rescue every task has one effect (P1, P2)."""
    ledger.create(backend)
    tasks = push(backend, repository, topic, *map(str, range(600)))
    doomed = [hire() for _ in range(CROWD)]
    for index, process in enumerate(doomed):
        process.start(backend.url, part(f"doomed-{index}", roles.drain_slowly, topic=topic))
    for process in doomed:
        assert process.expect() == "ready"
    for process in doomed:
        process.tell("go")
    for process in doomed:
        process.expect()
        kill(backend, process)
    assert len(states(backend, repository, topic)) == len(tasks)
    rescue(backend, repository, topic)
    _work_off(backend, topic, hire())
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
    assert ledger.ends(backend) == {task.sequence: 1 for task in tasks}


@pytest.mark.backends("postgresql", "oracle")
def test_task_of_an_owner_that_is_forgotten_meanwhile_expires(
    backend: Backend, repository: TaskRepository[Any], topic: str, actor: Callable[[str], Actor]
) -> None:
    """A dead owner that polls while it is purged leaves nothing ACTIVE for ever (P1, PU-08)."""
    push(backend, repository, topic, "a")
    sleeper, cleaner = actor("doomed"), actor("cleaner")
    backend.age_owner("doomed", 3600)
    assert sleeper.run(lambda r, tx: r.poll(tx, topic)) is not None
    purging = cleaner.start(lambda r, tx: r.purge_owners(tx, roles.STALE))
    cleaner.waits(purging)
    sleeper.commit()
    purging.result(TIMEOUT)
    cleaner.commit()
    assert cleaner.run(lambda r, tx: r.expire(tx, roles.STALE)) == 1
    cleaner.commit()


def rescue(backend: Backend, repository: TaskRepository[Any], topic: str) -> int:
    """Expire and reset what owners left that beat no more."""
    for (owner,) in backend.sql("SELECT owner FROM task_owner WHERE owner LIKE 'doomed%'"):
        backend.age_owner(owner, 3600)
    with backend.begin() as transaction:
        expired = repository.expire(transaction, roles.STALE)
        state = TaskState.EXPIRED
        reset = repository.recreate_state(transaction, topic, Revivification.RESET, state, size=1000)
    assert len(reset) == expired
    return expired


def _work_off(backend: Backend, topic: str, process: Process) -> None:
    process.start(backend.url, part("survivor", roles.drain, topic=topic, size=10))
    process.result()
