"""How tasks reach a SQLite table: in blocks or one by one, by statements for what most of them are and for others."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from task_api import TaskCreation, TaskRepository, TaskState
from tests.backends import Backend

pytestmark = [pytest.mark.backends("sqlite"), pytest.mark.kinds("connection")]

LAST = {
    "plain": TaskCreation("last", "input"),
    "no input": TaskCreation("last"),
    "reference": TaskCreation("last", "input", reference="reference"),
    "suspended": TaskCreation("last", "input", suspended=True),
    "due": TaskCreation("last", "input", due=timedelta(hours=1)),
}


@pytest.mark.parametrize("number", [1, 2, 19, 20, 21, 40, 59])
@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_each_task_is_stored_as_it_was_given(
    backend: Backend, repository: TaskRepository[Any], topic: str, number: int, last: TaskCreation
) -> None:
    """Whatever the size of a batch, and whatever the one unlike the others is (P1, P3)."""
    creations = [*(TaskCreation(f"task {i}", f"input {i}") for i in range(number - 1)), last]
    with backend.begin() as tx:
        tasks = repository.push_many(tx, topic, creations)
        stored = list(repository.page(tx, topic))
    assert [task.sequence for task in stored] == [task.sequence for task in tasks]
    assert [(task.identifier, task.input, task.reference) for task in stored] == [
        (creation.identifier, creation.input, creation.reference) for creation in creations
    ]
    ready = last.due is None and not last.suspended
    assert [task.state for task in stored[:-1]] == [TaskState.READY] * (number - 1)
    assert stored[-1].state is (TaskState.READY if ready else TaskState.SUSPENDED)
    assert stored[-1].due == (stored[-1].created + last.due if isinstance(last.due, timedelta) else None)
    assert len({task.created for task in stored}) == 1


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_one_task_is_stored_as_it_was_given(
    backend: Backend, repository: TaskRepository[Any], topic: str, last: TaskCreation
) -> None:
    """The same, pushed alone (P1)."""
    with backend.begin() as tx:
        task = repository.push(tx, topic, last)
        [stored] = repository.page(tx, topic)
    assert (stored.sequence, stored.identifier, stored.input) == (task.sequence, last.identifier, last.input)
    assert stored.reference == last.reference
    assert stored.state is (TaskState.SUSPENDED if last.due or last.suspended else TaskState.READY)
    assert (stored.due is None) is (last.due is None)


def test_a_plain_task_binds_nothing_that_it_does_not_have(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Binding None takes sqlite3 a microsecond, as much as all else that a task in a batch costs (DESIGN 4)."""
    with _bound(backend) as values, backend.begin() as tx:
        repository.push(tx, topic, TaskCreation("one", "input"))
        repository.push_many(tx, topic, [TaskCreation(f"task {i}", "input") for i in range(45)])
    assert "one" in values
    assert "task 44" in values
    assert None not in values


@contextmanager
def _bound(backend: Backend) -> Iterator[list[object]]:
    """The values that reach the driver with statements on tasks."""
    values: list[object] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, ___: Any, many: bool) -> None:  # noqa: ANN401, FBT001
        sets: Sequence[Any] = parameters if many else [parameters]
        if "INTO task " in statement:
            values.extend(value for row in sets for value in (row.values() if isinstance(row, dict) else row))

    event.listen(backend.engine, "before_cursor_execute", note)
    try:
        yield values
    finally:
        event.remove(backend.engine, "before_cursor_execute", note)
