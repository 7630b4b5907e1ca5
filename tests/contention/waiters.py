"""Tasks that wait for others, as the races about them make and follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskCreation, TaskRef, TaskState
from tests.backends.steps import states

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend

servers = pytest.mark.backends("postgresql", "oracle")
each_end = pytest.mark.parametrize("end", ["commit", "rollback"])
ROUNDS = {"postgresql": 500, "sqlite": 60, "oracle": 30}
"""How often a race is repeated, by its database."""


def after(
    backend: Backend, repository: TaskRepository[Any], topic: str, *groups: list[TaskRef], **fields: Any
) -> list[Task]:
    """Push a task after each group of others."""
    creations = [TaskCreation(str(place), after=tuple(group), **fields) for place, group in enumerate(groups)]
    with backend.begin() as tx:
        return repository.push_many(tx, topic, creations)


def waiting(backend: Backend, repository: TaskRepository[Any], topic: str) -> set[TaskState]:
    """The states of a topic."""
    return set(states(backend, repository, topic).values())
