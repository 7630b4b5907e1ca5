"""Several managers on one topic while transactions fail: every task is done, and its effect is there once."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskRepository, TaskState
from task_processor import (
    BufferingTaskHandlerFactory,
    CompositeTaskHandlerFactory,
    RetryPolicy,
    TaskConsumerContext,
    TaskContext,
    TaskListener,
    TaskSupplement,
    each,
)
from tests.backends.steps import push
from tests.processor.support import PATIENCE, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from task_processor import TaskHandlerFactory
    from tests.backends import Backend, Transaction

pytestmark = pytest.mark.kinds("driver")
Repository = TaskRepository[Any]
NUMBER = 60


class Unreliable:
    """A dispatcher of which every seventh transaction fails at its end."""

    def __init__(self, backend: Backend) -> None:
        self._begin = backend.begin
        self._numbers = count(1)

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Begin a transaction that may be rolled back instead of committed."""
        with self._begin() as tx:
            yield tx
            if next(self._numbers) % 7 == 0:
                message = "the commit failed"
                raise ConnectionError(message)


class Promoting(TaskListener):
    """Brings failed tasks back, as a worker would, and tells when all have succeeded."""

    def __init__(self, backend: Backend, repository: Repository) -> None:
        self._backend = backend
        self._repository = repository
        self._lock = threading.Lock()
        self._done: set[Task] = set()
        self.finished = threading.Event()

    def on_empty(self, topic: str) -> None:
        """Promote."""
        with self._backend.begin() as tx:
            self._repository.promote(tx, topic)

    def on_complete(self, topic: str, trace: Any, decisions: Mapping[Task, Any]) -> None:  # noqa: ANN401, ARG002
        """Count those that will not come back."""
        with self._lock:
            self._done |= {task for task, decision in decisions.items() if decision.due is None}
            if len(self._done) == NUMBER:
                self.finished.set()


def test_every_effect_is_there_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Whatever fails on the way, tasks and effects agree in the end (P1, P2, TM-16, TM-19, TM-20, CC-04)."""
    with backend.begin() as tx:
        repository.initialize(tx, "effects")
    push(backend, repository, topic, *map(str, range(NUMBER)))
    other = backend.repository("other")

    def work(task: Task, tx: Transaction) -> None:
        repository.push(tx, "effects", task.identifier)
        if task.attempt == 1 and int(task.identifier) % 5 == 0:
            raise ValueError

    def context(topic: str, tasks: Sequence[Task]) -> TaskContext:
        return TaskConsumerContext(topic, tasks, other)

    def step(task: Task, supplement: TaskSupplement) -> None:
        supplement.context.push(task, "effects")

    listener = Promoting(backend, repository)
    options: dict[str, Any] = {
        "listener": listener,
        "size": 4,
        "pause": timedelta(milliseconds=10),
        "retry": RetryPolicy(1000, timedelta()),
    }
    unreliable: Any = Unreliable(backend)
    managers: list[tuple[Repository, TaskHandlerFactory, Claim]] = [
        (repository, BufferingTaskHandlerFactory(each(work), buffer=1, workers=2), Claim.COMMITTED),
        (repository, each(work), Claim.TRANSACTION),
        (other, CompositeTaskHandlerFactory(context=context).each("step", step), Claim.COMMITTED),
    ]
    with ExitStack() as stack:
        for owner, factory, claim in managers:
            stack.enter_context(running(unreliable, owner, factory, claim=claim, **options))
        assert listener.finished.wait(PATIENCE)

    with backend.begin() as tx:
        tasks = repository.page(tx, topic, size=1000)
        effects = repository.page(tx, "effects", size=1000)
    assert {task.state for task in tasks} == {TaskState.SUCCEEDED}
    assert sorted(effect.identifier for effect in effects) == sorted(map(str, range(NUMBER)))
