"""Transactions of every kind, and every call that can be made in one."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import oracledb
import psycopg
import pytest
import sqlalchemy
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from sqlalchemy import event
from sqlalchemy.orm import Session, scoped_session, sessionmaker

import task_sql
from task_api import Dependency, Insertion, Revivification, Task, TaskDecision, TaskRef, TaskResult, TaskState, chain
from tests.backends import Backend, Transaction
from tests.conformance.scenes import Repository

Opener: TypeAlias = Callable[[Backend], AbstractContextManager[Transaction]]
Begin: TypeAlias = Callable[[], AbstractContextManager[Transaction]]
HOUR = timedelta(hours=1)
TABLES = ("task", "task_topic", "task_owner", "task_activation")

driver_columns = pytest.mark.kinds("driver")


# --- the kinds -------------------------------------------------------------------------------------------


@contextmanager
def connection(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy connection."""
    with backend.engine.connect() as tx:
        yield tx


@contextmanager
def session(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy session."""
    with Session(backend.engine) as tx:
        yield tx


@contextmanager
def scoped(backend: Backend) -> Iterator[Any]:
    """A registry of sessions, as web applications have."""
    registry = scoped_session(sessionmaker(backend.engine))
    yield registry
    registry.remove()


@contextmanager
def foreign_engine(backend: Backend) -> Iterator[Any]:
    """A connection of an engine that is not set up by the library."""
    engine = sqlalchemy.create_engine(backend.url)
    with engine.connect() as tx:
        yield tx
    engine.dispose()


@contextmanager
def autocommit_engine(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy connection in its autocommit mode."""
    with backend.engine.connect() as tx:
        yield tx.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def named_rows_engine(backend: Backend) -> Iterator[Any]:
    """A connection of an engine whose raw connections give other rows than SQLAlchemy's own, which does not mind."""
    engine = task_sql.create_engine(backend.url)
    event.listen(engine, "connect", lambda raw, _: setattr(raw, "row_factory", sqlite3.Row))
    with engine.connect() as tx:
        yield tx
    engine.dispose()


def driver(begin: str | None = None, row_factory: Any = None, **options: Any) -> Opener:  # noqa: ANN401
    """A connection of the driver itself, by the options of its connect."""

    @contextmanager
    def opened(backend: Backend) -> Iterator[Any]:
        if backend.name == "oracle":
            with closing(backend.connect()) as tx:
                tx.autocommit = options.get("autocommit", False)
                yield tx
            return
        connect: Any = sqlite3.connect if backend.name == "sqlite" else psycopg.connect
        with closing(connect(backend.dsn, **options)) as tx:
            if row_factory:
                tx.row_factory = row_factory
            if begin:
                tx.execute(begin)
            yield tx

    return opened


ERRORS = (sqlite3.Error, psycopg.Error, oracledb.Error, sqlalchemy.exc.DBAPIError)
COMMON: dict[str, Opener] = {
    "connection": connection,
    "session": session,
    "scoped_session": scoped,
    "foreign engine": foreign_engine,
    "driver": driver(),
}
SQLITE: dict[str, Opener] = COMMON | {
    "immediate": driver(isolation_level="IMMEDIATE"),
    "explicit begin": driver("BEGIN", isolation_level=None),
    "explicit begin immediate": driver("BEGIN IMMEDIATE", isolation_level=None),
    "named rows of an engine": named_rows_engine,
    "named rows and types": driver(row_factory=sqlite3.Row, detect_types=sqlite3.PARSE_DECLTYPES),
}
POSTGRESQL: dict[str, Opener] = COMMON | {
    "explicit begin": driver("BEGIN", autocommit=True),
    "dict rows": driver(row_factory=dict_row),
    "unprepared": driver(prepare_threshold=None),
    "prepared at once": driver(prepare_threshold=0),
}
ORACLE: dict[str, Opener] = COMMON
SQLITE_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "isolation level None": driver(isolation_level=None),
}
ORACLE_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "autocommit": driver(autocommit=True),
}
POSTGRESQL_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "autocommit": driver(autocommit=True),
}
if sys.version_info >= (3, 12):
    SQLITE |= {
        "autocommit off": driver(autocommit=False),
        "autocommit on, explicit begin": driver("BEGIN", autocommit=True),
    }
    SQLITE_AUTOCOMMIT |= {"autocommit on": driver(autocommit=True)}


def end(tx: Transaction, how: str) -> None:
    """COMMIT or ROLLBACK in the way that the kind wants it."""
    if isinstance(tx, sqlite3.Connection) and getattr(tx, "autocommit", None) is True:
        tx.execute(how)  # commit() and rollback() do nothing in this mode
    else:
        getattr(tx, how.lower())()


def in_transaction(tx: Transaction) -> bool:
    """Whether the driver's connection has a transaction open."""
    raw: Transaction = tx.connection.driver_connection if isinstance(tx, sqlalchemy.Connection) else tx
    if isinstance(raw, sqlite3.Connection):
        return raw.in_transaction
    if hasattr(raw, "transaction_in_progress"):
        return bool(raw.transaction_in_progress)
    return bool(raw.info.transaction_status != TransactionStatus.IDLE)


# --- the calls -------------------------------------------------------------------------------------------


def dump(backend: Backend) -> dict[str, list[str]]:
    """Everything that others see of the tables."""
    return {table: sorted(map(repr, backend.sql(f"SELECT * FROM {table}"))) for table in TABLES}  # noqa: S608


def every_call(  # noqa: PLR0915 - as many as there are
    repository: Repository, tx: Transaction, topic: str, tasks: dict[TaskState, Task]
) -> Iterator[str]:
    """Make every call of a repository, one after the other, and tell after each which it was."""
    repository.register(tx)
    yield "register"
    repository.heartbeat(tx)
    yield "heartbeat"
    repository.initialize(tx, "new")
    yield "initialize"
    repository.push(tx, "new", "a", insertion=Insertion.REPLACE)
    yield "push"
    pushed = repository.push_many(tx, topic, ["a", "b"])
    yield "push_many"
    held = [repository.poll(tx, topic)]
    yield "poll"
    held += repository.poll_many(tx, topic, 3)
    yield "poll_many"
    first, second, third, fourth = (task for task in held if task)
    repository.complete(tx, topic, first)
    yield "complete"
    repository.complete_many(tx, topic, {second: TaskDecision.FAILURE})
    yield "complete_many"
    repository.checkpoint(tx, topic, third, "so far")
    yield "checkpoint"
    repository.extend(tx, topic, [third], HOUR)
    yield "extend"
    repository.release(tx, topic, [third])
    yield "release"
    repository.eject(tx, topic, fourth)
    yield "eject"
    assert repository.promote(tx, topic) == 1
    yield "promote"
    repository.next_due(tx, topic)
    yield "next_due"
    early, late = (TaskRef(topic, task.sequence) for task in repository.push_graph(tx, topic, chain("x", "y")))
    yield "push_graph"
    repository.depend(tx, [Dependency(TaskRef(topic, third.sequence), late)])
    yield "depend"
    assert repository.predecessors(tx, late) == [early]
    yield "predecessors"
    assert repository.dependents(tx, early) == [late]
    yield "dependents"
    assert repository.poll_between(tx, topic, "x", "y") is not None
    yield "poll_between"
    assert [info.identifier for info in repository.between(tx, topic, "x", None)] == ["x", "y"]
    yield "between"
    repository.recreate(tx, topic, Revivification.REPLACE, [tasks[TaskState.FILTERED]])
    yield "recreate"
    repository.recreate_state(tx, topic, Revivification.RESET, TaskState.FAILED)
    yield "recreate_state"
    repository.reassign(tx, topic, {tasks[TaskState.SUCCEEDED]: TaskResult.FILTER}, message="why")
    yield "reassign"
    repository.reassign_all(tx, topic, TaskState.EXPIRED, TaskResult.SUCCESS)
    yield "reassign_all"
    assert repository.junction(tx, topic, [["SUSPENDED"]]) == {"SUSPENDED"}
    yield "junction"
    assert repository.expire(tx, HOUR) == 1
    yield "expire"
    assert repository.purge_owners(tx, HOUR) == 1
    yield "purge_owners"
    assert repository.owners(tx, HOUR) == set()
    yield "owners"
    repository.activate(tx, topic, active=True)
    yield "activate"
    assert repository.activation(tx, topic) is True
    yield "activation"
    assert repository.topics(tx) == {topic, "doomed", "new"}
    yield "topics"
    assert repository.task(tx, topic, pushed[0].sequence) == pushed[0]
    yield "task"
    assert set(pushed) < set(repository.page(tx, topic))
    yield "page"
    assert repository.count(tx)["new"][TaskState.READY].count == 1
    yield "count"
    assert repository.results(tx)["new"] == {}
    yield "results"
    assert repository.resolve(tx, datetime(2001, 1, 1, tzinfo=UTC)) > 0
    yield "resolve"
    repository.refresh(tx)
    yield "refresh"
    assert repository.purge(tx, topic) > 0
    yield "purge"
    repository.purge_all(tx, topic)
    yield "purge_all"
    assert repository.destroy(tx, "doomed") is True
    yield "destroy"
    repository.push(tx, topic, "last")
