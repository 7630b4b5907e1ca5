"""SQLAlchemy's engine, with SQLite set up right."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import URL, Connection, Engine

__all__ = ["create_engine"]

_BUSY_SECONDS = 30


def create_engine(url: "str | URL", **options: Any) -> "Engine":
    """
    Return SQLAlchemy's engine for the URL; all its options are taken.

    A plain ``postgresql://`` means psycopg 3. On SQLite: write-ahead log, so that readers don't wait; write
    transactions begin as such, so that two of them wait for each other instead of failing; foreign keys are
    enforced.
    """
    import sqlalchemy

    url = sqlalchemy.make_url(url)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": _BUSY_SECONDS, **options.get("connect_args", {})}
    engine = sqlalchemy.create_engine(url, **options)
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine)
    return engine


def prepare_sqlite(engine: "Engine") -> None:
    """Set up an engine's SQLite connections as `create_engine` does; for an async engine its ``sync_engine``."""
    from sqlalchemy import event

    isolation = getattr(engine.dialect, "_on_connect_isolation_level", None)

    @event.listens_for(engine, "connect")
    def connect(connection: "sqlite3.Connection", _record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself, see below
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: "Connection") -> None:
        if connection.get_execution_options().get("isolation_level", isolation) != "AUTOCOMMIT":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
