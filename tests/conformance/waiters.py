"""Tasks that wait for others, as the tests of dependencies make and follow them."""

from datetime import timedelta
from typing import Any

import pytest

from task_api import Dependency, NamedTask, OnAbort, Task, TaskCreation, TaskDecision, TaskRef, TaskState
from tests.backends import Backend
from tests.backends.steps import poll, states
from tests.conformance.scenes import Repository, run

SUCCESS = TaskDecision.SUCCESS
HOUR = timedelta(hours=1)

few = pytest.mark.kinds("driver", "plain")
"""Transactions of the driver, with partitions and without: enough for what is the same in all kinds."""


def ref(task: Task, topic: str = "topic") -> TaskRef:
    """The full name of a task."""
    return TaskRef(topic, task.sequence)


def link(waiting: Task, *others: Task) -> list[Dependency]:
    """One task of the usual topic waits for others of it."""
    return [Dependency(ref(waiting), ref(other)) for other in others]


def push_after(
    backend: Backend,
    repository: Repository,
    topic: str,
    identifier: str,
    *after: Task | NamedTask,
    on_abort: OnAbort = OnAbort.CASCADE,
    **fields: Any,
) -> Task:
    """Push a task that waits for others."""
    creation = TaskCreation(identifier, after=after, on_abort=on_abort, **fields)
    return run(backend, repository.push, topic, creation)


def decide(
    backend: Backend, repository: Repository, topic: str, *tasks: Task, decision: TaskDecision = SUCCESS
) -> None:
    """Claim exactly these tasks, which must be READY, and decide them in one call."""
    ready = [sequence for sequence, state in states(backend, repository, topic).items() if state is TaskState.READY]
    with backend.begin() as tx:
        polled = {task.sequence: task for task in repository.poll_many(tx, topic, len(ready))}
        claimed = [polled.pop(task.sequence) for task in tasks]
        if polled:
            repository.release(tx, topic, list(polled.values()))
    with backend.begin() as tx:
        repository.complete_many(tx, topic, dict.fromkeys(claimed, decision))


def state_of(backend: Backend, repository: Repository, topic: str, *tasks: Task) -> list[TaskState]:
    """Where tasks stand."""
    found = states(backend, repository, topic)
    return [found[task.sequence] for task in tasks]


def work_off(backend: Backend, repository: Repository, topic: str, size: int = 1) -> list[Task]:
    """Poll and complete until nothing is READY; return the tasks in the order of their polls."""
    done: list[Task] = []
    while tasks := poll(backend, repository, topic, size):
        done += tasks
        run(backend, repository.complete_many, topic, dict.fromkeys(tasks, SUCCESS))
    return done


def others_topic(backend: Backend, repository: Repository) -> str:
    """A second topic."""
    run(backend, repository.initialize, "other")
    return "other"
