"""Pushes of many tasks at once, which draw their numbers from one generator."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from task_api import MAX_SEQUENCE, Direction

if TYPE_CHECKING:
    from task_api import Task, TaskRepository
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "connection")]

SIZE = 2000
PATIENCE = 60


def test_numbers_that_others_draw_between_are_theirs(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Each task is returned with the number that it is stored under, in the order of the push (P3, IN-10)."""
    pushed: list[list[Task]] = []
    together = Barrier(2, timeout=PATIENCE)

    def push(name: str) -> list[Task]:
        with backend.begin() as tx:
            together.wait()
            return repository.push_many(tx, topic, [f"{name} {number}" for number in range(SIZE)])

    deadline = time.monotonic() + PATIENCE
    with ThreadPoolExecutor(2) as pool:
        while not any(map(gaps, pushed)):
            assert time.monotonic() < deadline, "nobody ever drew a number between those of another"
            names = (f"one {len(pushed)}", f"two {len(pushed)}")
            pushed += pool.map(push, names)

    with backend.begin() as tx:
        stored = repository.page(
            tx, topic, start=MAX_SEQUENCE, size=SIZE * len(pushed) + 1, direction=Direction.BACKWARD
        )
    found = {task.sequence: task.identifier for task in stored}
    assert found == {task.sequence: task.identifier for tasks in pushed for task in tasks}
    assert len(found) == SIZE * len(pushed)
    for tasks in pushed:
        assert tasks == sorted(tasks)
        assert [task.identifier.rpartition(" ")[2] for task in tasks] == list(map(str, range(SIZE)))


def gaps(tasks: list[Task]) -> bool:
    """Tell whether some number lies between those of the tasks."""
    return tasks[-1].sequence - tasks[0].sequence >= len(tasks)
