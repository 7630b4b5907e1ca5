"""A schema that was found is trusted for a while, and never longer than its connection lives."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from task_api import SchemaError
from task_sql import SqliteTaskRepository, schema
from tests.backends import Backend
from tests.backends.steps import push
from tests.conformance.scenes import Repository, run

_TRIES = 1000


def test_a_schema_that_goes_is_missed_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """It was found before on the same connections; the calls still say that it is not there (DESIGN 3)."""
    push(backend, repository, topic, "a")
    run(backend, schema.uninstall)

    with pytest.raises(SchemaError, match="schema"):
        push(backend, repository, topic, "b")


def test_a_version_that_changes_is_noticed(backend: Backend, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the trust in what was found has ended, it is read again (DESIGN 3)."""
    monkeypatch.setattr("task_sql.dialect._TRUSTED", 0.0)
    repository = backend.repository()
    push(backend, repository, topic, "a")
    backend.sql("UPDATE task_schema SET version = 999")

    with pytest.raises(SchemaError, match=r"version 999.*newer"):
        push(backend, repository, topic, "b")


def _installed(path: Path, version: int = schema.VERSION) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        schema.install(connection)
        SqliteTaskRepository().initialize(connection, "topic")
        connection.execute("UPDATE task_schema SET version = ?", (version,))
    return path


def test_a_connection_is_asked_once(tmp_path: Path) -> None:
    """A connection of sqlite3 is remembered like any other, although it can't be referred to weakly (DESIGN 3)."""
    repository = SqliteTaskRepository()
    statements: list[str] = []
    with closing(sqlite3.connect(_installed(tmp_path / "tasks.db"))) as connection:
        connection.set_trace_callback(statements.append)
        for identifier in "abc":
            repository.push(connection, "topic", identifier)

    assert len([statement for statement in statements if "task_schema" in statement]) == 1


def test_a_connection_is_not_taken_for_a_former_one(tmp_path: Path) -> None:
    """What is known of a connection ends with it, also where another object gets its place in memory (DESIGN 3)."""
    repository = SqliteTaskRepository()
    good, newer = _installed(tmp_path / "good.db"), _installed(tmp_path / "newer.db", 999)

    for _ in range(_TRIES):
        connection = sqlite3.connect(good)
        repository.push(connection, "topic", "a")
        connection.rollback()
        place = id(connection)
        connection.close()
        del connection
        with closing(sqlite3.connect(newer)) as other:
            with pytest.raises(SchemaError, match="999"):
                repository.push(other, "topic", "a")
            if id(other) == place:
                return
    pytest.fail("no connection got the place of a former one")
