"""Task and TaskInfo as values."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from task_api import Task, TaskInfo, TaskState

CREATED = datetime(2024, 2, 29, 12, tzinfo=UTC)


def info(sequence: int, identifier: str = "a", state: TaskState = TaskState.READY) -> TaskInfo:
    """Make an info object with nothing but what it needs."""
    return TaskInfo(sequence=sequence, identifier=identifier, topic="topic", state=state, created=CREATED)


def test_defaults() -> None:
    """A task needs only a sequence and an identifier."""
    task = Task(1, "a")

    assert (task.input, task.attempt, task.token) == (None, 0, 0)


@pytest.mark.parametrize(
    "other",
    [Task(1, "a", "input", attempt=2, token=3), Task(1, "b"), info(1, "b", TaskState.FAILED)],
    ids=["other input, attempt and token", "other identifier", "info"],
)
def test_tasks_of_one_sequence_are_equal(other: Task) -> None:
    """The sequence alone decides equality and hash, for the richer info object too (ST-14)."""
    task = Task(1, "a")

    assert (task == other, other == task, len({task, other})) == (True, True, 1)


@pytest.mark.parametrize("other", [Task(2, "a"), info(2), 1, None, "a (1)"], ids=str)
def test_anything_else_is_different(other: object) -> None:
    """Another sequence or another type is not equal (ST-14)."""
    assert Task(1, "a") != other


def test_tasks_sort_by_sequence() -> None:
    """Neither identifier nor type matters for the order (ST-14)."""
    tasks = [Task(3, "a"), info(1, "z"), Task(10, "b"), info(2, "c")]

    assert [task.sequence for task in sorted(tasks)] == [1, 2, 3, 10]


def test_a_task_does_not_compare_with_a_number() -> None:
    """Only tasks have an order among each other (ST-14)."""
    with pytest.raises(TypeError):
        assert Task(1, "a") < 2


@pytest.mark.parametrize("task", [Task(17, "invoice"), info(17, "invoice")], ids=["task", "info"])
def test_the_text_form_names_identifier_and_sequence(task: Task) -> None:
    """People see what a task is about and its number (ST-14)."""
    assert ("invoice" in str(task), "17" in str(task)) == (True, True)


def test_an_info_object_is_a_task_with_everything_stored() -> None:
    """What is not there yet is absent (ST-15)."""
    value = info(1)

    assert isinstance(value, Task)
    assert (value.topic, value.state, value.descent) == ("topic", TaskState.READY, TaskState.READY)
    assert value.created == CREATED
    optional = ("input", "owner", "reference", "polled", "completed", "due", "lease", "origin", "output")
    assert {name: getattr(value, name) for name in optional} == dict.fromkeys(optional)


@pytest.mark.parametrize("task", [Task(1, "a"), info(1)], ids=["task", "info"])
def test_tasks_are_immutable(task: Task) -> None:
    """A task value never changes once it was handed out."""
    with pytest.raises(FrozenInstanceError):
        task.token = 7  # type: ignore[misc]
