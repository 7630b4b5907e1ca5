"""Whoever changes several tasks locks them in the order of their sequences, so that no two wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from task_api import TaskDecision, TaskState
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
    push(backend, repository, topic, *(str(number) for number in range(20)))
    tasks = poll(backend, repository, topic, 20)
    for task in reversed(tasks):  # their rows lie the other way round now
        with backend.begin() as transaction:
            repository.checkpoint(transaction, topic, task, "moved")
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        connection.execute("VACUUM (FULL, ANALYZE) task")  # so few pages that reading all of them looks cheapest
    worker = actor("me")
    with psycopg.connect(backend.dsn) as other, psycopg.connect(backend.dsn) as third:
        other.execute(_LOCK, [tasks[10].sequence])
        call = worker.start(lambda r, tx: r.complete_many(tx, topic, DECISIONS[kind](tasks)))
        assert worker.waits(call)
        free = [sequence for (sequence,) in third.execute(_FREE, [[task.sequence for task in tasks]])]
    call.result(TIMEOUT)
    worker.commit()
    assert sorted(free) == [task.sequence for task in tasks[11:]]
    with backend.begin() as transaction:
        assert repository.count(transaction)[topic][TaskState.SUCCEEDED].count == 20
