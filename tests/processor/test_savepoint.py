"""Savepoints in transactions of every kind."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Task, TaskRepository, TaskState
from task_processor import each, savepoint
from tests.backends.steps import push, states
from tests.processor.support import Recorder, running

if TYPE_CHECKING:
    from tests.backends import Backend, Transaction

Repository = TaskRepository[Any]


def found(backend: Backend, repository: Repository, topic: str) -> list[str]:
    """What was committed."""
    with backend.begin() as tx:
        return [task.identifier for task in repository.page(tx, topic)]


def test_what_raises_is_undone_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """The transaction goes on, before and after (DESIGN 5)."""
    with backend.begin() as tx:
        with savepoint(tx):
            repository.push(tx, topic, "kept")
        with suppress(LookupError), savepoint(tx):
            repository.push(tx, topic, "undone")
            raise LookupError
        repository.push(tx, topic, "after")
    assert found(backend, repository, topic) == ["kept", "after"]


def test_savepoints_can_be_nested(backend: Backend, repository: Repository, topic: str) -> None:
    """The inner one is undone alone, or both are (DESIGN 5)."""
    with backend.begin() as tx, savepoint(tx):
        repository.push(tx, topic, "outer")
        with suppress(LookupError), savepoint(tx):
            repository.push(tx, topic, "inner")
            raise LookupError
    assert found(backend, repository, topic) == ["outer"]
    with backend.begin() as tx, suppress(LookupError), savepoint(tx):
        with savepoint(tx):
            repository.push(tx, topic, "inner")
        raise LookupError
    assert found(backend, repository, topic) == ["outer"]


def test_a_savepoint_is_not_a_commit(backend: Backend, repository: Repository, topic: str) -> None:
    """What it kept goes with the transaction, also where it came first in it (DESIGN 5)."""
    with suppress(LookupError), backend.begin() as tx:
        with savepoint(tx):
            repository.push(tx, topic, "kept for now")
        raise LookupError
    assert found(backend, repository, topic) == []


def test_a_broken_statement_leaves_the_transaction_usable(backend: Backend, repository: Repository, topic: str) -> None:
    """An error of the database itself is undone too (DESIGN 5)."""
    with backend.begin() as tx:
        repository.push(tx, topic, "before")
        with suppress(Exception), savepoint(tx):
            tx.execute("SELECT no_such_column FROM task")
        repository.push(tx, topic, "after")
    assert found(backend, repository, topic) == ["before", "after"]


@pytest.mark.parametrize("claim", Claim)
def test_failed_work_is_undone_in_every_kind_of_transaction(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Effects of the tasks that succeed stay, and all are decided in the same transaction (TM-16, DESIGN 5)."""
    push(backend, repository, topic, "good", "bad", "fine")
    with backend.begin() as tx:
        repository.initialize(tx, "effects")
    recorder = Recorder()

    def work(task: Task, tx: Transaction) -> None:
        repository.push(tx, "effects", task.identifier)
        if task.identifier == "bad":
            raise ValueError

    with running(backend, repository, each(work), listener=recorder, claim=claim):
        recorder.wait("empty")
    assert found(backend, repository, "effects") == ["good", "fine"]
    expected = [TaskState.SUCCEEDED, TaskState.FAILED, TaskState.SUCCEEDED]
    assert list(states(backend, repository, topic).values()) == expected


def test_what_is_no_transaction_of_a_database_is_left_alone() -> None:
    """As a stand-in in the tests of a handler; what is raised inside is raised (DESIGN 5)."""
    with savepoint(object()):
        done = True
    with pytest.raises(LookupError), savepoint(None):
        raise LookupError
    assert done
