"""Decisions without effects in the transaction that claims their tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy

from task_api import Claim, Task, TaskDecision, TaskRepository, TaskState
from task_processor import batch, each
from tests.backends.steps import info, push, states
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from task_processor import TaskHandlerFactory
    from tests.backends import Backend

Repository = TaskRepository[Any]


def _within(_task: Task, _tx: Any) -> None:  # noqa: ANN401 - of any kind
    """Work in the transaction."""


@pytest.mark.kinds("connection")
@pytest.mark.parametrize(
    ("factory", "savepoints"),
    [
        (each(lambda _: None), 0),
        (batch(lambda _: None), 0),
        (batch(lambda tasks: dict.fromkeys(tasks, TaskDecision.FAILURE)), 0),
        (each(lambda task: task.identifier), 1),
        (each(lambda _: 1 // 0), 1),
        (each(_within), 3),
    ],
    ids=["nothing", "nothing for all", "bare failures", "texts", "errors", "in the transaction"],
)
def test_a_savepoint_is_taken_where_something_could_be_undone(
    backend: Backend, repository: Repository, topic: str, factory: TaskHandlerFactory, savepoints: int
) -> None:
    """Work before the transaction has no effects in it, and a decision without a text can't be refused (DESIGN 5)."""
    push(backend, repository, topic, "a", "b")
    taken: list[str] = []
    sqlalchemy.event.listen(backend.engine, "savepoint", lambda _, name: taken.append(name))
    recorder = Recorder()

    with running(backend, repository, factory, listener=recorder, claim=Claim.TRANSACTION):
        recorder.wait("dispatched")

    assert len(taken) == savepoints
    assert TaskState.READY not in states(backend, repository, topic).values()


@pytest.mark.backends("sqlite")
def test_a_database_in_trouble_fails_no_task(backend: Backend, repository: Repository, topic: str) -> None:
    """Decisions that it does not take are no fault of the work: all is as before the poll (TM-12, DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    backend.sql(
        "CREATE TRIGGER trouble BEFORE UPDATE ON task WHEN new.state = 6 BEGIN SELECT RAISE(ABORT, 'trouble'); END"
    )
    recorder = Recorder()

    with running(backend, repository, each(lambda _: None), listener=recorder, claim=Claim.TRANSACTION) as manager:
        [fatal] = recorder.wait("fatal")[:1]
        stored = info(backend, repository, topic, task)
        assert (stored.state, stored.attempt) == (TaskState.READY, 0)
        backend.sql("DROP TRIGGER trouble")
        manager.resume()
        recorder.wait("complete")

    assert "trouble" in str(fatal)
    assert recorder.names()[:5] == ["start", "callback", "error", "dispatched", "fatal"]


@pytest.mark.parametrize("claim", Claim)
def test_a_decision_on_a_foreign_task_fails_the_batch(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """It is found before anything is written, and the failure is stored (TM-16, DESIGN 5)."""
    [task] = push(backend, repository, topic, "a")
    recorder = Recorder()

    with running(
        backend,
        repository,
        batch(lambda _: {Task(task.sequence + 1, "b"): TaskDecision.SUCCESS}),
        listener=recorder,
        claim=claim,
    ):
        recorder.wait("error")

    stored = info(backend, repository, topic, task)
    assert stored.state == TaskState.FAILED
    assert stored.output is not None
    assert "outside of the batch" in stored.output
