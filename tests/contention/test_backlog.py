"""Long queues of few identifiers: what a SINGULAR poll knows about them never hides a task (P3, P4)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Condition, Revivification, TaskCreation, TaskDecision, TaskState
from tests.backends.steps import complete, poll, push

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import Task, TaskRepository
    from tests.backends import Backend

pytestmark = pytest.mark.kinds("driver", "plain")

SINGULAR = Condition.SINGULAR_BY_IDENTIFIER
UNTIL_SUCCESS = Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
HOT = ["a", "b", "c"]


def _work(backend: Backend, repository: TaskRepository[Any], topic: str, turns: int = 5) -> list[list[str]]:
    """Take what can be taken, so often that the repository has come to know the queue."""
    taken = []
    for _ in range(turns):
        tasks = poll(backend, repository, topic, 50, condition=SINGULAR)
        complete(backend, repository, topic, tasks)
        taken.append([task.identifier for task in tasks])
    return taken


def _next(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    tasks = poll(backend, repository, topic, 50, condition=SINGULAR)
    with backend.begin() as transaction:
        repository.release(transaction, topic, tasks)
    return tasks


def test_each_turn_brings_the_first_of_each_identifier(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """One task of each, in the order of their sequences, until there are no more (P3, P4)."""
    pushed = push(backend, repository, topic, *HOT * 40, "last")
    assert _next(backend, repository, topic) == [*pushed[:3], pushed[-1]]
    assert _work(backend, repository, topic, 41) == [["a", "b", "c", "last"], *[HOT] * 39, []]


def test_new_tasks_are_found_behind_the_known_ones(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """What is pushed later comes after the queues of known identifiers, if it is not one of them (P3)."""
    pushed = push(backend, repository, topic, *HOT * 20)
    _work(backend, repository, topic)
    younger = push(backend, repository, topic, "new", "a", "new", "newer")
    assert _next(backend, repository, topic) == [*pushed[15:18], younger[0], younger[3]]


@pytest.mark.backends("postgresql", "oracle")
def test_a_lower_sequence_that_commits_late_is_next(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A push of another identifier that was open all the while comes first (P3, PO-22)."""
    producer = backend.open()
    late = backend.repository("other").push(producer, topic, "late")
    pushed = push(backend, repository, topic, *HOT * 20)
    _work(backend, repository, topic)
    backend.commit(producer)
    assert _next(backend, repository, topic) == [late, *pushed[15:18]]


def _released(backend: Backend, other: TaskRepository[Any], topic: str, task: Task) -> None:
    with backend.begin() as transaction:
        other.release(transaction, topic, [task])


def _reset(backend: Backend, other: TaskRepository[Any], topic: str, task: Task) -> None:
    complete(backend, other, topic, task, TaskDecision.FAILURE)
    with backend.begin() as transaction:
        other.recreate(transaction, topic, Revivification.RESET, [task])


def _promoted(backend: Backend, other: TaskRepository[Any], topic: str, task: Task) -> None:
    complete(backend, other, topic, task, TaskDecision.retry(timedelta()))
    with backend.begin() as transaction:
        assert other.promote(transaction, topic) == 1


def _joined(backend: Backend, other: TaskRepository[Any], topic: str, task: Task) -> None:
    complete(backend, other, topic, task, TaskDecision.SUSPENSION)
    with backend.begin() as transaction:
        assert other.junction(transaction, topic, [[task.identifier]]) == {task.identifier}


@pytest.mark.parametrize("bring_back", [_released, _reset, _promoted, _joined])
@pytest.mark.parametrize("identifier", ["another", "b"])
def test_a_lower_sequence_that_is_brought_back_is_next(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    bring_back: Callable[[Backend, TaskRepository[Any], str, Task], None],
    identifier: str,
) -> None:
    """A task that another repository had comes back at its old place, of a known identifier or not (P3, RE-09)."""
    [first] = push(backend, repository, topic, identifier)
    other = backend.repository("other")
    [held] = poll(backend, other, topic)
    pushed = push(backend, repository, topic, *HOT * 20)
    taken = _work(backend, repository, topic)
    assert taken == [[each for each in HOT if each != identifier]] * 5
    bring_back(backend, other, topic, held)
    expected = [first] + [task for task in pushed[15:18] if task.identifier != identifier]
    assert _next(backend, repository, topic) == expected


def test_own_claims_that_are_rolled_back_are_next(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """What a repository polled in a long transaction of its own is there again when that rolls back (P3, PO-17)."""
    pushed = push(backend, repository, topic, *HOT * 20, *map(str, range(30)))
    complete(backend, repository, topic, poll(backend, repository, topic, condition=SINGULAR))
    long = backend.open()
    for _ in range(4):
        repository.complete_many(
            long,
            topic,
            dict.fromkeys(repository.poll_many(long, topic, 10, condition=SINGULAR), TaskDecision.SUCCESS),
        )
    backend.rollback(long)
    assert _next(backend, repository, topic)[:3] == [pushed[1], pushed[2], pushed[3]]


def test_blocked_identifiers_at_the_head_starve_nobody(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Failed identifiers with long queues are passed over, and taken again once they may be (P4, PO-B4)."""
    push(backend, repository, topic, *HOT)
    complete(backend, repository, topic, poll(backend, repository, topic, 3), TaskDecision.FAILURE)
    blocked = push(backend, repository, topic, *HOT * 400)
    others = push(backend, repository, topic, *map(str, range(60)))
    for place in range(0, 60, 6):
        tasks = poll(backend, repository, topic, 6, condition=UNTIL_SUCCESS)
        assert tasks == others[place : place + 6]
        complete(backend, repository, topic, tasks)
    assert poll(backend, repository, topic, 6, condition=UNTIL_SUCCESS) == []
    with backend.begin() as transaction:
        repository.recreate_state(transaction, topic, Revivification.RESET, TaskState.FAILED, size=2)
        repository.push(transaction, topic, TaskCreation("after"))
    tasks = poll(backend, repository, topic, 6, condition=UNTIL_SUCCESS)
    assert [task.identifier for task in tasks] == ["a", "b", "after"]
    complete(backend, repository, topic, tasks)
    assert poll(backend, repository, topic, 6, condition=UNTIL_SUCCESS) == blocked[:2]
