"""Where topiq's transactions come from: a driver's own connections, without SQLAlchemy between."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

__all__ = ["PostgresConnections", "SqliteConnections"]


class PostgresConnections:
    """A psycopg connection for each thread; a dispatcher."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._local = threading.local()

    @property
    def connection(self) -> psycopg.Connection:
        """This thread's connection, in autocommit mode: a call outside of a transaction is one."""
        if not hasattr(self._local, "connection"):
            self._local.connection = psycopg.connect(self._url, autocommit=True)
        found: psycopg.Connection = self._local.connection
        return found

    @contextmanager
    def __call__(self) -> Iterator[psycopg.Connection]:
        """Begin a transaction."""
        with self.connection.transaction():
            yield self.connection


class SqliteConnections:
    """A sqlite3 connection for each thread; a dispatcher."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._local = threading.local()

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit mode: a call outside of a transaction is one."""
        if not hasattr(self._local, "connection"):
            connection = sqlite3.connect(self._path, isolation_level=None, timeout=30)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = connection
        found: sqlite3.Connection = self._local.connection
        return found

    @contextmanager
    def __call__(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction that writes."""
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
