"""A SQLite file without a write-ahead log, which can't be written to as long as somebody reads it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias

import pytest

from task_api import Condition
from task_sql import SqliteTaskRepository, schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.backends("sqlite"), pytest.mark.kinds("driver")]

Call: TypeAlias = "Callable[[SqliteTaskRepository, sqlite3.Connection], object]"

CALLS: dict[str, Call] = {
    "poll": lambda repository, tx: repository.poll(tx, "topic", condition=Condition.SINGULAR_BY_IDENTIFIER),
    "poll_between": lambda repository, tx: repository.poll_between(tx, "topic", None, None),
    "push_many": lambda repository, tx: repository.push_many(tx, "topic", ["b", "c"]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_commit_that_is_refused_leaves_nothing_open(tmp_path: Path, call: Call) -> None:
    """A connection in autocommit mode is in it afterwards, so that the next call commits, too (P7)."""
    file = tmp_path / "plain.db"
    repository = SqliteTaskRepository("me")
    with (
        closing(sqlite3.connect(file, isolation_level=None, timeout=0)) as tx,
        closing(sqlite3.connect(file, isolation_level=None)) as reader,
    ):
        schema.install(tx)
        repository.register(tx)
        repository.initialize(tx, "topic")
        repository.push(tx, "topic", "a")
        before = reader.execute("SELECT sequence, state FROM task").fetchall()
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM task").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            call(repository, tx)
        assert not tx.in_transaction
        reader.execute("COMMIT")
        assert reader.execute("SELECT sequence, state FROM task").fetchall() == before
        call(repository, tx)
        assert reader.execute("SELECT sequence, state FROM task").fetchall() != before
