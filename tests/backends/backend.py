"""What a test sees of its database: transactions of its kind, repositories, plain SQL, a leak check."""

from __future__ import annotations

import select
import sqlite3
import threading
import time
from contextlib import closing, contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

import task_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from task_api import TaskRepository

Transaction: TypeAlias = Any
"""A transaction of any kind. Tests pass it on and never look inside, so it needs no closer type."""

_IN_TRANSACTION = """
SELECT pid, state, query FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
AND state <> 'idle'
"""


_NOT_LISTED = """
SELECT t.sequence FROM task_topic AS p JOIN task AS t ON t.topic = p.topic
WHERE p.looked = 1 AND t.state = 1 AND t.listed = 0 AND t.token = 0
"""


class Kind(Enum):
    """What is passed to the repository as its transaction."""

    CONNECTION = "connection"
    SESSION = "session"
    DRIVER = "driver"


class Backend:
    """One test's own database with the schema installed."""

    _errors: tuple[type[Exception], ...] = (psycopg.Error, sqlite3.Error, SQLAlchemyError)
    """What a connection that is of no use any more may raise."""

    def __init__(self, *, name: str, partitioned: bool, kind: Kind, url: str) -> None:
        self.name = name
        """``"sqlite"``, ``"postgresql"`` or ``"oracle"``."""
        self.partitioned = partitioned
        """Whether each topic has a partition of its own."""
        self.kind = kind
        """What :meth:`begin` and :meth:`open` give."""
        self.url = url
        """The SQLAlchemy URL; usable from another process."""
        # Contention tests hold many connections at once; the default pool of 15 would make them wait.
        self.engine = task_sql.create_engine(url, pool_size=20, max_overflow=40)
        """An engine made by ``task_sql.create_engine``."""
        self._lock = threading.Lock()
        self._open: list[Transaction] = []
        self._idle: list[Transaction] = []

    def many(self, number: int) -> int:
        """So many tasks, or as many as this database can do in a test's time."""
        return number

    @property
    def dsn(self) -> str:
        """What the driver's own ``connect`` takes: a file's path for sqlite3, a URL for psycopg."""
        url = sqlalchemy.make_url(self.url)
        if self.name == "sqlite":
            return str(url.database)
        return url.set(drivername="postgresql").render_as_string(hide_password=False)

    @property
    def on_postgresql(self) -> bool:
        """Whether PostgreSQL executes what it is told, so that it can be asked who is in a transaction."""
        return self.name == "postgresql"

    def connect(self) -> Transaction:
        """A new connection of the driver itself, not in autocommit mode; the caller closes it."""
        if self.name == "sqlite":
            # Closed by the main thread at the end of the test, whichever thread opened it.
            return sqlite3.connect(self.dsn, timeout=30, check_same_thread=False)
        return psycopg.connect(self.dsn)

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """A transaction of this column's kind, committed on normal exit, rolled back on an exception."""
        if self.kind is Kind.CONNECTION:
            with self.engine.begin() as connection:
                yield connection
        elif self.kind is Kind.SESSION:
            with Session(self.engine) as session, session.begin():
                yield session
        else:
            with self._driver() as connection:
                yield connection

    def open(self) -> Transaction:
        """A transaction that stays open until it is ended, at the latest by the end of the test."""
        if self.kind is Kind.CONNECTION:
            transaction: Transaction = self.engine.connect()
        elif self.kind is Kind.SESSION:
            transaction = Session(self.engine)
        else:
            transaction = self.connect()
        with self._lock:
            self._open.append(transaction)
        return transaction

    def commit(self, transaction: Transaction) -> None:
        """Commit what :meth:`open` gave; the next call on it begins anew."""
        transaction.commit()

    def rollback(self, transaction: Transaction) -> None:
        """Roll back what :meth:`open` gave; the next call on it begins anew."""
        transaction.rollback()

    def close(self, transaction: Transaction) -> None:
        """Roll back and close what :meth:`open` gave."""
        with self._lock:
            self._open = [other for other in self._open if other is not transaction]
        try:
            transaction.rollback()
        finally:
            transaction.close()

    def repository(self, owner: str = "me", *, register: bool = True) -> TaskRepository[Any]:
        """The repository for this database, its owner registered unless told otherwise."""
        repository: TaskRepository[Any] = task_sql.create_repository(self.engine, owner=owner)
        if register:
            with self.begin() as transaction:
                repository.register(transaction)
        return repository

    def sql(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        """Run plain SQL with ``:name`` parameters in a transaction of its own and give its rows."""
        if self.name == "sqlite":
            # Through the driver: the engine begins immediate, and a look would wait for an open writer.
            with closing(self.connect()) as connection, connection:
                return list(connection.execute(statement, params))
        with self.engine.begin() as connection:
            result = connection.execute(sqlalchemy.text(statement), params)
            return [tuple(row) for row in result] if result.returns_rows else []

    def age_owner(self, owner: str, seconds: float) -> None:
        """Move an owner's heartbeat into the past, so that no test waits for time to pass."""
        aged = "strftime('%Y-%m-%d %H:%M:%f', heartbeat, '-' || :seconds || ' seconds')"
        if self.name == "postgresql":
            aged = "heartbeat - make_interval(secs => :seconds)"
        changed = self.sql(
            f"UPDATE task_owner SET heartbeat = {aged} WHERE owner = :owner RETURNING owner",  # noqa: S608 - ours
            owner=owner,
            seconds=float(seconds),
        )
        assert changed == [(owner,)], f"owner {owner!r} is not registered"

    def finish(self) -> None:
        """Close what the test left open, then insist that nothing else holds a transaction."""
        for transaction in list(self._open):
            # A connection that the test closed or cut itself is no leak.
            with suppress(*self._errors):
                self.close(transaction)
        try:
            self._assert_no_leak()
        finally:
            for connection in self._idle:
                connection.close()
            self.engine.dispose()

    @contextmanager
    def _driver(self) -> Iterator[Transaction]:
        # Connections are used again, as an application's pool would, so that psycopg's automatic
        # preparation of repeated statements is part of what the suite proves.
        connection = self._reuse() or self.connect()
        try:
            yield connection
        except BaseException:
            self._give_back(connection, connection.rollback)
            raise
        self._give_back(connection, connection.commit)

    def _reuse(self) -> Transaction | None:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if self._usable(connection):
                    return connection
                connection.close()
        return None

    def _usable(self, connection: Transaction) -> bool:
        # An idle connection has nothing to say, unless the server has cut it.
        return self.name == "sqlite" or not select.select([connection.fileno()], [], [], 0)[0]

    def _closed(self, connection: Transaction) -> bool:
        return bool(getattr(connection, "closed", False))

    def _give_back(self, connection: Transaction, end: Any) -> None:  # noqa: ANN401 - a bound method
        if self._closed(connection):  # a test may have cut the connection
            return
        try:
            end()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)

    def _assert_no_leak(self) -> None:
        pool: Any = self.engine.pool
        assert pool.checkedout() == 0, f"connections left checked out: {pool.status()}"
        if self.on_postgresql:
            assert_nothing_open(self.dsn)
        if self.name == "sqlite":
            self._assert_listed()

    def _assert_listed(self) -> None:
        """Insist that READY tasks are found by their identifiers where that is said; see task_sql/sqlite/listed.py."""
        with suppress(sqlite3.OperationalError):  # the test has removed the schema, or never had it
            assert self.sql(_NOT_LISTED) == []


def assert_nothing_open(dsn: str) -> None:
    """Insist that nobody holds a transaction in this database of PostgreSQL."""
    # A connection closed a moment ago may still be listed, so ask again before complaining.
    deadline = time.monotonic() + 5
    with psycopg.connect(dsn, autocommit=True) as connection:
        while leaked := connection.execute(_IN_TRANSACTION).fetchall():
            assert time.monotonic() < deadline, f"transactions left open: {leaked}"
            time.sleep(0.01)
