"""What is Oracle's alone: its limits, its option, its driver, and what a poll may lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import oracledb
import pytest
import sqlalchemy

from task_api import InvalidTaskError, SchemaError, TaskCreation, TaskDecision, TaskResult
from task_sql import OracleTaskRepository, schema
from task_sql.oracle.transaction import OracleTransaction, checked_driver
from tests.backends.steps import complete, info, poll, push

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend

pytestmark = [pytest.mark.backends("oracle"), pytest.mark.kinds("driver")]

OPTION = "UPDATE v$option SET value = 'FALSE' WHERE parameter = 'Partitioning'"


def _reinstall(backend: Backend, **options: Any) -> None:
    transaction = backend.open()
    schema.uninstall(transaction)
    schema.install(transaction, **options)
    backend.close(transaction)


def test_without_the_option_the_schema_is_plain(backend: Backend) -> None:
    """A database that can't partition gets the same tables, and says so of them (PA-01, PA-04)."""
    backend.sql(OPTION)
    _reinstall(backend)
    assert backend.sql("SELECT partitioned FROM task_schema") == [(0,)]
    repository = backend.repository()
    with backend.begin() as transaction:
        schema.install(transaction)  # once more, as a deployment would
        repository.initialize(transaction, "topic")
    assert push(backend, repository, "topic", "a") == poll(backend, repository, "topic")


def test_a_script_for_partitions_needs_the_option(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody may look at the option, the error says what to do instead (PA-01)."""
    backend.sql(OPTION)
    monkeypatch.setattr("task_sql.oracle.dialect.OPTION", "SELECT value FROM v$hidden")
    with pytest.raises(SchemaError, match="partitioned=False"):
        _reinstall(backend)
    _reinstall(backend, partitioned=False)


@pytest.mark.parametrize("version", ["3.4.1", "1.0"])
def test_an_old_driver_is_refused(version: str) -> None:
    """The error names the version that is needed and how to get it (DESIGN 3)."""
    with pytest.raises(InvalidTaskError, match=rf"4\.0 or newer.*{version}.*pip install"):
        checked_driver(version)


def test_this_driver_is_not(backend: Backend) -> None:
    """The installed one will do (DESIGN 3)."""
    checked_driver(oracledb.__version__)
    assert isinstance(backend.repository(), OracleTaskRepository)


def test_names_at_their_limit_are_kept_in_every_alphabet(backend: Backend, repository: TaskRepository[Any]) -> None:
    """Limits are characters; 500 of four bytes each fit, and so does what is compared with them (ST-10)."""
    topic, identifier, reference = "\U0001d11e" * 250, "\U0001d11e" * 500, "ß" * 500
    with backend.begin() as transaction:
        repository.initialize(transaction, topic)
        repository.push(transaction, topic, TaskCreation(identifier, "x" * 40_000, reference))
    [task] = poll(backend, repository, topic)
    assert (task.identifier, task.input) == (identifier, "x" * 40_000)
    assert info(backend, repository, topic, task).reference == reference


def test_long_texts_are_stored_and_appended_to(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """More than 4,000 bytes fit into outputs and messages, also where they are put together (CO-10, RA-B3)."""
    [task] = (push(backend, repository, topic, "a"), poll(backend, repository, topic))[1]
    complete(backend, repository, topic, task, TaskDecision.failure("ä" * 9_000))
    with backend.begin() as transaction:
        repository.reassign(transaction, topic, {task: TaskResult.FILTER}, message="ö" * 9_000)
    assert info(backend, repository, topic, task).output == "ä" * 9_000 + "\n" + "ö" * 9_000


def test_a_poll_locks_no_more_than_it_takes(
    backend: Backend, repository: TaskRepository[Any], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetch size is lock size: with a larger one, a second poll would find less (PO-23)."""
    tasks = push(backend, repository, topic, *map(str, range(10)))
    other = backend.repository("other")
    first, second = backend.open(), backend.open()
    assert repository.poll_many(first, topic, 3) == tasks[:3]
    assert other.poll_many(second, topic, 3) == tasks[3:6]
    backend.rollback(first)
    backend.rollback(second)

    cursor = OracleTransaction._cursor  # noqa: SLF001 - where sizes are set
    monkeypatch.setattr(OracleTransaction, "_cursor", lambda self, _=1: cursor(self, 100))
    assert repository.poll_many(first, topic, 3) == tasks[:3]
    assert other.poll_many(second, topic, 3) != tasks[3:6]


def test_errors_are_those_that_the_caller_knows(backend: Backend, repository: TaskRepository[Any]) -> None:
    """A driver's connection raises the driver's errors, one of SQLAlchemy its own; both tell a missing schema (P7)."""
    lost = "SELECT 1 FROM task_owner WHERE owner = TO_NUMBER(:owner)"
    driver = backend.open()
    with backend.engine.connect() as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(repository, "_require_owner", lambda tx: tx.rows(lost, {"owner": "x"}))
        with pytest.raises(oracledb.DatabaseError):
            repository.poll(driver, "nothing")
        with pytest.raises(sqlalchemy.exc.DBAPIError):
            repository.poll(connection, "nothing")
