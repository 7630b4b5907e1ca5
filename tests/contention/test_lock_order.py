"""Whoever changes several tasks locks them in the order of their sequences, so that no two wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import TaskCreation, TaskDecision, TaskState
from tests.backends.steps import poll, push
from tests.contention.member import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from task_api import Task, TaskRepository
    from tests.backends import Backend
    from tests.contention.threads import Actor

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]

_LOCK = "SELECT FROM task WHERE sequence = %s FOR UPDATE"
_FREE = "SELECT sequence FROM task WHERE sequence = ANY (%s) FOR UPDATE SKIP LOCKED"
DECISIONS: dict[str, Callable[[list[Task]], Mapping[Task, TaskDecision]]] = {
    "alike": lambda tasks: dict.fromkeys(tasks, TaskDecision.SUCCESS),
    "each its own way": lambda tasks: {task: TaskDecision.success(task.identifier) for task in tasks},
}


@pytest.mark.parametrize("kind", DECISIONS)
def test_a_completion_locks_in_order(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], kind: str
) -> None:
    """Wherever the rows lie: while it waits for one task, it has those before it, and none behind (P2)."""
    tasks = _turned_round(backend, repository, topic)
    free = _free_meanwhile(
        backend, actor("me"), tasks, lambda r, tx: r.complete_many(tx, topic, DECISIONS[kind](tasks))
    )
    assert free == [task.sequence for task in tasks[11:]]
    with backend.begin() as transaction:
        assert repository.count(transaction)[topic][TaskState.SUCCEEDED].count == 20


REMOVALS: dict[str, Callable[[TaskRepository[Any], Any, str], object]] = {
    "purge_all": lambda repository, tx, topic: repository.purge_all(tx, topic),
    "destroy": lambda repository, tx, topic: repository.destroy(tx, topic),
}


@pytest.mark.parametrize("kind", REMOVALS)
def test_a_removal_locks_in_order(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], kind: str
) -> None:
    """Who deletes a whole topic has what comes before a task that he waits for, and none behind (P2)."""
    tasks = _turned_round(backend, repository, topic)
    free = _free_meanwhile(backend, actor("me"), tasks, lambda r, tx: REMOVALS[kind](r, tx, topic))
    assert free == [task.sequence for task in tasks[11:]]
    assert backend.sql("SELECT count(*) FROM task") == [(0,)]


def test_a_junction_locks_in_order(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor]
) -> None:
    """However their identifiers sort, tasks are released in the order of their sequences (P6)."""
    identifiers = [f"{20 - number:02}" for number in range(20)]
    with backend.begin() as transaction:
        waiting = [TaskCreation(identifier, suspended=True) for identifier in identifiers]
        tasks = repository.push_many(transaction, topic, waiting)
    free = _free_meanwhile(backend, actor("me"), tasks, lambda r, tx: r.junction(tx, topic, [identifiers]))
    assert free == [task.sequence for task in tasks[11:]]
    with backend.begin() as transaction:
        assert repository.count(transaction)[topic][TaskState.READY].count == 20


def _turned_round(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Twenty held tasks whose rows lie in the opposite order."""
    push(backend, repository, topic, *(str(number) for number in range(20)))
    tasks = poll(backend, repository, topic, 20)
    for task in reversed(tasks):
        with backend.begin() as transaction:
            repository.checkpoint(transaction, topic, task, "moved")
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        connection.execute("VACUUM (FULL, ANALYZE) task")  # so few pages that reading all of them looks cheapest
    return tasks


def _free_meanwhile(
    backend: Backend, worker: Actor, tasks: list[Task], change: Callable[[TaskRepository[Any], Any], object]
) -> list[int]:
    """Hold a call up at the eleventh task; return which tasks it has not locked then. It ends in the end."""
    with psycopg.connect(backend.dsn) as other, psycopg.connect(backend.dsn) as third:
        other.execute(_LOCK, [tasks[10].sequence])
        call = worker.start(change)
        assert worker.waits(call)
        free = sorted(sequence for (sequence,) in third.execute(_FREE, [[task.sequence for task in tasks]]))
    call.result(TIMEOUT)
    worker.commit()
    return free
