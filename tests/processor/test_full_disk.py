"""A disk that is full in the midst of a batch: SQLite ends the transaction by itself, and nothing may follow in it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import exc

from task_api import Claim, TaskRepository, TaskState
from task_processor import TaskManager, batch, each
from tests.backends.steps import push, states
from tests.processor.support import MOMENT, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from task_api import Task
    from task_processor import TaskHandlerFactory
    from tests.backends import Backend

pytestmark = pytest.mark.backends("sqlite")
Repository = TaskRepository[Any]
TASKS = 10
_EFFECT = "INSERT INTO effect (sequence, data) VALUES ({}, zeroblob({}))"


def driver_of(tx: Any) -> sqlite3.Connection:  # noqa: ANN401 - either kind
    """The connection of the standard library."""
    return tx if isinstance(tx, sqlite3.Connection) else tx.connection.driver_connection


def write(tx: Any, sequence: int, size: int = 1) -> None:  # noqa: ANN401 - either kind
    """Write an effect."""
    execute = tx.execute if isinstance(tx, sqlite3.Connection) else tx.exec_driver_sql
    execute(_EFFECT.format(sequence, size))


class Disk:
    """Has no room for the fifth effect at first."""

    def __init__(self) -> None:
        self.written = 0
        self.full = False

    def effect(self, task: Task, tx: Any) -> None:  # noqa: ANN401 - either kind
        """Write one effect."""
        self.written += 1
        if self.full or self.written < TASKS // 2:
            write(tx, task.sequence)
            return
        self.full = True
        connection = driver_of(tx)
        connection.execute("PRAGMA max_page_count = 1")
        try:
            write(tx, task.sequence, 1_000_000)
        finally:
            assert connection.in_transaction is False
            connection.execute("PRAGMA max_page_count = 1000000")

    def effects(self, tasks: Sequence[Task], tx: Any) -> None:  # noqa: ANN401 - either kind
        """Write those of a batch."""
        for task in tasks:
            self.effect(task, tx)


@pytest.mark.kinds("connection", "driver")
@pytest.mark.parametrize("claim", Claim)
@pytest.mark.parametrize(
    "handler", [lambda disk: each(disk.effect), lambda disk: batch(disk.effects)], ids=["each", "batch"]
)
def test_a_full_disk_costs_nothing_but_time(
    backend: Backend, repository: Repository, topic: str, claim: Claim, handler: Callable[[Disk], TaskHandlerFactory]
) -> None:
    """The batch is given back as if it had not been begun; then each task has its decision and its effect (P2)."""
    backend.sql("CREATE TABLE effect (sequence integer, data blob)")
    tasks = push(backend, repository, topic, *map(str, range(TASKS)))
    disk = Disk()
    manager = TaskManager(topic, repository, backend.begin, handler(disk), size=TASKS, claim=claim, pause=MOMENT)
    manager.start()
    eventually(lambda: set(states(backend, repository, topic).values()) <= {TaskState.SUCCEEDED, TaskState.FAILED})
    manager.stop()
    assert disk.full
    assert states(backend, repository, topic) == dict.fromkeys((task.sequence for task in tasks), TaskState.SUCCEEDED)
    assert sorted(backend.sql("SELECT sequence FROM effect")) == sorted((task.sequence,) for task in tasks)


@pytest.mark.kinds("connection")
def test_nothing_follows_in_a_transaction_that_sqlite_has_ended(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A program that goes on regardless is told, and nothing of it is stored (P2)."""
    backend.sql("CREATE TABLE effect (sequence integer, data blob)")
    with backend.engine.connect() as tx:
        repository.push(tx, topic, "before")
        driver_of(tx).execute("PRAGMA max_page_count = 1")
        with pytest.raises(exc.DBAPIError, match="disk is full"):
            write(tx, 0, 1_000_000)
        with pytest.raises(exc.PendingRollbackError):
            repository.push(tx, topic, "after")
        with pytest.raises(exc.PendingRollbackError):
            tx.commit()
    assert states(backend, repository, topic) == {}
    [task] = push(backend, repository, topic, "again")
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}
