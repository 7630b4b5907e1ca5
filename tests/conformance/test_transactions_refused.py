"""What is no transaction, or none that a call can rely on, is refused with a word on what to pass instead (P7)."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session, sessionmaker

from task_api import Condition, Insertion, InvalidTaskError, TaskCreation, TaskState
from task_sql import SqliteTaskRepository
from tests.backends import Backend, Transaction
from tests.backends.steps import poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository
from tests.conformance.transactions import driver_columns


@pytest.mark.backends("postgresql")
@driver_columns
def test_a_pipeline_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """In psycopg's pipeline mode nobody could tell whether a task was held; outside of it all is well (P2, P7)."""
    push(backend, repository, topic, "a")
    (held,) = poll(backend, repository, topic)

    with closing(psycopg.connect(backend.dsn)) as tx:
        with tx.pipeline(), pytest.raises(InvalidTaskError, match="pipeline"):
            repository.complete(tx, topic, held)
        repository.complete(tx, topic, held)
        tx.commit()

    assert states(backend, repository, topic) == {held.sequence: TaskState.SUCCEEDED}


@pytest.mark.backends("postgresql")
@driver_columns
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_old_snapshots_are_refused_where_they_would_lie(
    backend: Backend, repository: Repository, topic: str, level: str
) -> None:
    """What waits for others must see what they left; plain pushes, polls and decisions go on (P4, P5, P6)."""
    with backend.begin() as tx:
        tx.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        task = repository.push(tx, topic, "a")
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.push(tx, topic, "a", insertion=Insertion.REPLACE)
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.junction(tx, topic, [{"a"}])
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.poll(tx, topic, condition=Condition.SINGULAR_BY_IDENTIFIER)
        held = repository.poll(tx, topic)
        assert held is not None
        repository.complete(tx, topic, held)

    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED}


def closed_connection(backend: Backend) -> object:
    """A SQLAlchemy connection that was closed."""
    tx = backend.engine.connect()
    tx.close()
    return tx


def closed_driver_connection(backend: Backend) -> object:
    """A connection of the driver that was closed."""
    tx = backend.connect()
    tx.close()
    return tx


def cursor(_backend: Backend) -> object:
    """A cursor instead of its connection."""
    with closing(sqlite3.connect(":memory:")) as tx:
        return tx.cursor()


WRONG: dict[str, tuple[Callable[[Backend], object], str]] = {
    "engine": (lambda backend: backend.engine, r"Engine.*engine\.begin\(\)"),
    "url": (lambda backend: backend.url, "str"),
    "none": (lambda _: None, "NoneType"),
    "sessionmaker": (lambda backend: sessionmaker(backend.engine), "sessionmaker"),
    "class": (lambda _: sqlalchemy.Connection, "type"),
    "unbound session": (lambda _: Session(), "bound|bind"),
    "cursor": (cursor, "Cursor"),
    "closed connection": (closed_connection, "closed"),
    "closed driver connection": (closed_driver_connection, "closed|open one"),
}


@driver_columns
@pytest.mark.parametrize(("make", "says"), WRONG.values(), ids=WRONG)
def test_what_is_no_transaction_is_refused(
    backend: Backend, repository: Repository, topic: str, make: Callable[[Backend], object], says: str
) -> None:
    """The error says what was passed, or what is wrong with it, and what to pass instead (P7)."""
    tx: Transaction = make(backend)

    for call in (
        lambda: repository.register(tx),
        lambda: repository.push(tx, topic, "a"),
        lambda: repository.push(tx, topic, TaskCreation("a"), insertion=Insertion.REPLACE),
        lambda: repository.poll(tx, topic),
        lambda: repository.page(tx, topic),
    ):
        with pytest.raises(InvalidTaskError, match=says):
            call()


@driver_columns
def test_an_async_connection_is_refused(backend: Backend, repository: Repository) -> None:
    """The error tells about AsyncTaskRepository (P7)."""
    tx: Transaction = create_async_engine(asynchronous(backend.url)).connect()

    with pytest.raises(InvalidTaskError, match="AsyncTaskRepository"):
        repository.topics(tx)


def asynchronous(url: str) -> str:
    """The same database for an asynchronous engine."""
    return url.replace("sqlite://", "sqlite+aiosqlite://")


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("connection", "session", "driver")
def test_a_connection_of_another_database_is_refused(backend: Backend, repository: Repository) -> None:
    """A repository speaks to its own kind of database alone, whichever way it is reached (P7)."""
    sqlite = SqliteTaskRepository("me")
    elsewhere = sqlalchemy.create_engine("sqlite://")
    wrong: Any = sqlite

    with backend.begin() as tx, pytest.raises(InvalidTaskError, match="sqlite"):
        wrong.topics(tx)
    with elsewhere.connect() as other, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(other)
    with Session(elsewhere) as other_session, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(other_session)
    with closing(sqlite3.connect(":memory:")) as raw, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(raw)
    elsewhere.dispose()


@pytest.mark.backends("sqlite")
@driver_columns
def test_a_sqlite_connection_of_another_thread_is_refused(backend: Backend, repository: Repository) -> None:
    """The driver would refuse it too; the error says so before anything runs (P7)."""
    made: list[sqlite3.Connection] = []
    done = threading.Event()

    def make() -> None:
        made.append(sqlite3.connect(backend.dsn))
        done.wait(TIMEOUT)
        made[0].close()

    thread = threading.Thread(target=make)
    thread.start()
    try:
        while not made:
            thread.join(0.01)
        with pytest.raises(InvalidTaskError, match="thread"):
            repository.topics(made[0])
    finally:
        done.set()
        thread.join(TIMEOUT)
