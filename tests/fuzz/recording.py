"""Transactions of each kind that show the text of every statement."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy
from sqlalchemy.orm import Session

from tests.backends import Kind
from tests.interleaving.steps import SteppedConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend, Transaction


@contextmanager
def recorded(backend: Backend) -> Iterator[tuple[Transaction, list[str]]]:
    """A transaction of the backend's kind, and the texts that it has sent so far; it is rolled back at the end."""
    seen: list[str] = []
    if backend.kind is Kind.DRIVER:
        connection = _sqlite(backend, seen) if backend.name == "sqlite" else _psycopg(backend, seen)
        try:
            yield connection, seen
        finally:
            connection.rollback()
            connection.close()
        return

    def record(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    sqlalchemy.event.listen(backend.engine, "before_cursor_execute", record)
    try:
        with Session(backend.engine) if backend.kind is Kind.SESSION else backend.engine.connect() as transaction:
            yield transaction, seen
            transaction.rollback()
    finally:
        sqlalchemy.event.remove(backend.engine, "before_cursor_execute", record)


def _psycopg(backend: Backend, seen: list[str]) -> SteppedConnection:
    connection = SteppedConnection.connect(backend.dsn)
    connection.gate = lambda step: seen.append(step.text)
    return connection


def _sqlite(backend: Backend, seen: list[str]) -> sqlite3.Connection:
    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *args: Any) -> Self:
            seen.append(sql)
            return super().execute(sql, *args)

        def executemany(self, sql: str, rows: Any, /) -> Self:  # noqa: ANN401 - as sqlite3 has it
            seen.append(sql)
            return super().executemany(sql, rows)

    class Connection(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:  # noqa: ANN401 - as sqlite3 has it
            return super().cursor(Cursor)

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            seen.append(sql)
            return super().execute(sql, *args)

    return sqlite3.connect(backend.dsn, timeout=30, factory=Connection)
