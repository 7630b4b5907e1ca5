"""SQLAlchemy's engine, with SQLite set up right."""

from typing import TYPE_CHECKING, Any

from task_api import InvalidTaskError

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import URL, Connection, Engine, ExceptionContext

__all__ = ["create_engine", "create_reader"]

_BUSY_SECONDS = 30
_BEGIN = "BEGIN IMMEDIATE"


def create_engine(url: "str | URL", **options: Any) -> "Engine":
    """
    Return SQLAlchemy's engine for the URL; all its options are taken.

    A plain ``postgresql://`` means psycopg 3. On SQLite: write-ahead log, so that readers don't wait; write
    transactions begin as such, so that two of them wait for each other instead of failing; one that SQLite ends by
    itself, for example because the disk is full, is of no more use; foreign keys are enforced.
    """
    engine = _engine(url, options)
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine)
    return engine


def create_reader(url: "str | URL", **options: Any) -> "Engine":
    """
    Return such an engine for those who only look.

    A SQLite file is left as it is, its journal included, and need not be one that can be written.
    """
    engine = _engine(url, options)
    if engine.dialect.name == "sqlite":
        _forbid_writing(engine)
    return engine


def _engine(url: "str | URL", options: dict[str, Any]) -> "Engine":
    import sqlalchemy

    url = sqlalchemy.make_url(url)
    if "@" in (url.host or ""):  # a part of the password, which would be shown as the host's name
        message = "the URL can't be read; in a password, write @ as %40, : as %3A and / as %2F"
        raise InvalidTaskError(message)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": _BUSY_SECONDS, **options.get("connect_args", {})}
    return sqlalchemy.create_engine(url, **options)


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

    def transactional(connection: "Connection") -> bool:
        return connection.get_execution_options().get("isolation_level", isolation) != "AUTOCOMMIT"

    @event.listens_for(engine, "begin")
    def begin(connection: "Connection") -> None:
        if transactional(connection):
            connection.exec_driver_sql(_BEGIN)

    @event.listens_for(engine, "handle_error")
    def handle_error(context: "ExceptionContext") -> None:
        # A full disk and the like end a transaction without a word; what comes next would be committed by itself.
        connection = context.connection
        if (
            connection is not None
            and connection.in_transaction()
            and transactional(connection)
            and context.statement != _BEGIN
            and not connection.connection.driver_connection.in_transaction  # type: ignore[union-attr]
        ):
            context.is_disconnect = True
            context.invalidate_pool_on_disconnect = False


def _forbid_writing(engine: "Engine") -> None:
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def connect(connection: "sqlite3.Connection", _record: object) -> None:
        connection.execute("PRAGMA query_only = ON").close()
