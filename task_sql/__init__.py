"""topiq on SQL: the repositories, their schema, and an engine that is set up right."""

from . import schema
from .aio import AsyncTaskRepository
from .engine import create_engine, prepare_sqlite
from .repository import (
    PostgresTaskRepository,
    SqliteTaskRepository,
    SqlTaskRepository,
    create_repository,
)
from .transaction import PostgresTransaction, SqliteTransaction

__all__ = [
    "AsyncTaskRepository",
    "PostgresTaskRepository",
    "PostgresTransaction",
    "SqlTaskRepository",
    "SqliteTaskRepository",
    "SqliteTransaction",
    "create_engine",
    "create_repository",
    "prepare_sqlite",
    "schema",
]
