"""The repositories, one class for each database over one algorithm."""

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from task_api import OWNER_LENGTH, TaskRepository
from task_api.task import checked_name

from .base import T
from .between import SqlTasksBetween
from .dependencies import SqlTaskDependencies
from .dialect import Dialect
from .juncture import SqlTaskJuncture
from .oracle.dialect import OracleDialect
from .owners import SqlOwners
from .postgresql.dialect import PostgresDialect
from .registry import dialect_of
from .reviver import SqlTaskReviver
from .sqlite.dialect import SqliteDialect
from .topics import SqlTopics
from .transaction import OracleTransaction, PostgresTransaction, SqliteTransaction
from .waiting import SqlWaiting

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

__all__ = [
    "OracleTaskRepository",
    "PostgresTaskRepository",
    "SqlTaskRepository",
    "SqliteTaskRepository",
    "create_repository",
]


class SqlTaskRepository(
    SqlTaskReviver[T],
    SqlTaskDependencies[T],
    SqlWaiting[T],
    SqlTasksBetween[T],
    SqlTaskJuncture[T],
    SqlOwners[T],
    SqlTopics[T],
    TaskRepository[T],
):
    """A topic-based, ordered queue in a SQL database."""

    def __init__(self, owner: str | None, dialect: Dialect) -> None:
        super().__init__(unique_owner() if owner is None else checked_name("owner", owner, OWNER_LENGTH), dialect)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(owner={self.owner!r})"


class PostgresTaskRepository(SqlTaskRepository[PostgresTransaction]):
    """A repository on PostgreSQL 14 or newer, through SQLAlchemy with psycopg or psycopg alone."""

    def __init__(self, owner: str | None = None) -> None:
        super().__init__(owner, PostgresDialect())


class OracleTaskRepository(SqlTaskRepository[OracleTransaction]):
    """A repository on Oracle 19c or newer, through SQLAlchemy with python-oracledb or python-oracledb alone."""

    def __init__(self, owner: str | None = None) -> None:
        super().__init__(owner, OracleDialect())


class SqliteTaskRepository(SqlTaskRepository[SqliteTransaction]):
    """A repository in a SQLite file, through SQLAlchemy or sqlite3 alone."""

    def __init__(self, owner: str | None = None) -> None:
        super().__init__(owner, SqliteDialect())


_REPOSITORIES: Final[Mapping[str, Callable[[str | None], SqlTaskRepository[Any]]]] = {
    PostgresDialect.name: PostgresTaskRepository,
    OracleDialect.name: OracleTaskRepository,
    SqliteDialect.name: SqliteTaskRepository,
}


def create_repository(engine: "Engine | AsyncEngine", owner: str | None = None) -> SqlTaskRepository[Any]:
    """
    Return the repository for the engine's database.

    Args:
        engine: A SQLAlchemy engine; only asked for its database.
        owner: The name to claim tasks under. Without one it is unique, so that a restarted process is another
            owner, and what its predecessor held expires.

    """
    return _REPOSITORIES[dialect_of(engine).name](owner)


def unique_owner() -> str:
    """Return a name that no other repository has, readable for an operator."""
    return f"{socket.gethostname()[:200]}-{os.getpid()}-{secrets.token_hex(4)}"
