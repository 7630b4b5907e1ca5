"""The calls that most tests begin with, each in a committed transaction of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from task_api import Insertion, Revivification, Task, TaskCreation, TaskDecision, TaskState

if TYPE_CHECKING:
    from collections.abc import Collection

    from task_api import TaskInfo, TaskRepository
    from tests.backends.backend import Backend

_PAGE = 10_000
_RESULTS = {
    TaskState.FAILED: TaskDecision.FAILURE,
    TaskState.SUSPENDED: TaskDecision.SUSPENSION,
    TaskState.FILTERED: TaskDecision.FILTER,
    TaskState.SUCCEEDED: TaskDecision.SUCCESS,
}


def push(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *identifiers: str,
    insertion: Insertion = Insertion.APPEND,
    **creation_fields: Any,
) -> list[Task]:
    """Push one task for each identifier, all with the same further fields."""
    creations = [TaskCreation(identifier, **creation_fields) for identifier in identifiers]
    with backend.begin() as transaction:
        return repository.push_many(transaction, topic, creations, insertion=insertion)


def poll(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    size: int = 1,
    **options: Any,
) -> list[Task]:
    """Poll up to ``size`` tasks."""
    with backend.begin() as transaction:
        return repository.poll_many(transaction, topic, size, **options)


def complete(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    task_or_tasks: Task | Collection[Task],
    decision: TaskDecision = TaskDecision.SUCCESS,
) -> None:
    """Decide one task or several alike."""
    tasks = [task_or_tasks] if isinstance(task_or_tasks, Task) else task_or_tasks
    with backend.begin() as transaction:
        repository.complete_many(transaction, topic, dict.fromkeys(tasks, decision))


def info(backend: Backend, repository: TaskRepository[Any], topic: str, task: Task) -> TaskInfo:
    """The stored task, which must exist."""
    with backend.begin() as transaction:
        found = repository.task(transaction, topic, task.sequence)
    assert found is not None, f"{task} is not in {topic!r}"
    return found


def states(backend: Backend, repository: TaskRepository[Any], topic: str) -> dict[int, TaskState]:
    """The state of every task of the topic by sequence."""
    with backend.begin() as transaction:
        found = repository.page(transaction, topic, size=_PAGE)
    assert len(found) < _PAGE, "too many tasks for this helper"
    return {item.sequence: item.state for item in found}


def drive(backend: Backend, repository: TaskRepository[Any], topic: str, task: Task, state: TaskState) -> None:
    """Bring a fresh READY task into any state; RECREATED and REDUNDANT leave a new task behind."""
    if state is TaskState.ACTIVE:
        _claim(backend, repository, topic, task)
    elif state is TaskState.EXPIRED:
        ghost = backend.repository("ghost")
        _claim(backend, ghost, topic, task)
        backend.age_owner("ghost", 3600)
        with backend.begin() as transaction:
            repository.expire(transaction, timedelta(minutes=30))
    elif state in _RESULTS:
        complete(backend, repository, topic, _claim(backend, repository, topic, task), _RESULTS[state])
    elif state is TaskState.RECREATED:
        claimed = _claim(backend, repository, topic, task)
        complete(backend, repository, topic, claimed)
        with backend.begin() as transaction:
            repository.recreate(transaction, topic, Revivification.APPEND, [claimed])
    elif state is TaskState.REDUNDANT:
        push(backend, repository, topic, task.identifier, insertion=Insertion.SUPERSEDE)
    actual = info(backend, repository, topic, task).state
    assert actual == state, f"{task} is {actual.name}, not {state.name}"


def _claim(backend: Backend, repository: TaskRepository[Any], topic: str, task: Task) -> Task:
    """Poll exactly this task: those before it in the order are polled with it and given back."""
    ready = [
        sequence
        for sequence, state in states(backend, repository, topic).items()
        if state is TaskState.READY and sequence <= task.sequence
    ]
    polled = {other.sequence: other for other in poll(backend, repository, topic, len(ready))}
    claimed = polled.pop(task.sequence)
    if polled:
        with backend.begin() as transaction:
            repository.release(transaction, topic, list(polled.values()))
    return claimed
