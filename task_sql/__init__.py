"""topiq on SQL: the repositories, their schema, and an engine that is set up right."""

from . import schema
from .aio import AsyncTaskRepository
from .engine import create_engine, prepare_sqlite
from .notifier import Notifier, PollingNotifier, create_notifier
from .repository import (
    OracleTaskRepository,
    PostgresTaskRepository,
    SqliteTaskRepository,
    SqlTaskRepository,
    create_repository,
)
from .transaction import OracleTransaction, PostgresTransaction, SqliteTransaction

__all__ = [
    "AsyncTaskRepository",
    "Notifier",
    "OracleTaskRepository",
    "OracleTransaction",
    "PollingNotifier",
    "PostgresTaskRepository",
    "PostgresTransaction",
    "SqlTaskRepository",
    "SqliteTaskRepository",
    "SqliteTransaction",
    "create_engine",
    "create_notifier",
    "create_repository",
    "prepare_sqlite",
    "schema",
]
