"""The database refuses for a moment to store a decision: that is not the work's fault."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, TaskCreation, TaskRepository, TaskState
from task_processor import TaskManager, each
from tests.backends.steps import info, push
from tests.processor.support import MOMENT, PATIENCE, eventually

if TYPE_CHECKING:
    from task_api import Task
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]


@pytest.mark.parametrize("claim", Claim)
def test_a_lock_that_is_not_had_in_time_fails_no_task(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """Somebody else has locked a task that waits for the one to be decided, for longer than the session waits (P2)."""
    [task] = push(backend, repository, topic, "task")
    with backend.begin() as tx:
        [waiting] = repository.push_many(tx, topic, [TaskCreation("waiting", after=(task,))])
    tried: list[int] = []
    locked, again = threading.Event(), threading.Event()

    def work(held: Task, tx: Any) -> None:  # noqa: ANN401 - a driver's connection
        if held.sequence == task.sequence:
            tried.append(held.attempt)
            if len(tried) > 1:
                again.set()
            assert locked.wait(PATIENCE)
            tx.execute("SET LOCAL lock_timeout = '20ms'")

    manager = TaskManager(topic, repository, backend.begin, each(work), claim=claim, pause=MOMENT)
    with backend.begin() as other:
        other.execute("SELECT FROM task WHERE sequence = %s FOR UPDATE", [waiting.sequence])
        manager.start()
        locked.set()
        assert again.wait(PATIENCE)
    eventually(lambda: info(backend, repository, topic, waiting).state is TaskState.SUCCEEDED)
    manager.stop()
    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED
    assert set(tried) == {1}
