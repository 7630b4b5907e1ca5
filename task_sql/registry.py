"""Which dialect speaks to what the caller has. The one place that reads a database's name."""

from importlib import import_module
from typing import Final, cast

from task_api import InvalidTaskError

from .dialect import Dialect

__all__ = ["dialect_named", "dialect_of"]

_DIALECTS: Final = {
    "postgresql": ("task_sql.postgresql.dialect", "PostgresDialect"),
    "oracle": ("task_sql.oracle.dialect", "OracleDialect"),
    "sqlite": ("task_sql.sqlite.dialect", "SqliteDialect"),
}
_DRIVERS: Final = {"psycopg": "postgresql", "oracledb": "oracle", "sqlite3": "sqlite"}


def dialect_named(name: str) -> Dialect:
    """Return a new dialect for a database, by the name that SQLAlchemy gives it."""
    if name not in _DIALECTS:
        message = f"there is no repository for {name!r}, only for {', '.join(_DIALECTS)}"
        raise InvalidTaskError(message)
    module, cls = _DIALECTS[name]
    return cast("Dialect", getattr(import_module(module), cls)())


def dialect_of(connection: object) -> Dialect:
    """Return a new dialect for the database that a connection, session or engine leads to."""
    for cls in type(connection).__mro__:
        if database := _DRIVERS.get(cls.__module__.partition(".")[0]):
            return dialect_named(database)
    bound = connection
    if hasattr(bound, "get_bind"):  # a session
        bound = bound.get_bind()
    if (dialect := getattr(bound, "dialect", None)) is None:
        kind = type(connection)
        message = (
            "expected a SQLAlchemy connection, session or engine, or a connection of psycopg, oracledb or sqlite3,"
            f" not {kind.__module__}.{kind.__qualname__}"
        )
        raise InvalidTaskError(message)
    return dialect_named(dialect.name)
