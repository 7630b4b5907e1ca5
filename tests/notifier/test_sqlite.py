"""Watching a SQLite file: what is seen, and what is left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

import task_sql
from task_api import InvalidTaskError, SchemaError, TaskRepository
from task_sql import create_notifier, schema
from task_sql.notifier.sqlite import VERSION
from tests.backends.steps import poll, push
from tests.notifier.support import Errors, Puppet, started, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend

pytestmark = [pytest.mark.backends("sqlite"), pytest.mark.kinds("driver")]
Repository = TaskRepository[Any]


@contextmanager
def engine_for(url: str, **options: Any) -> Iterator[sqlalchemy.Engine]:
    """An engine that is disposed of in the end."""
    engine = task_sql.create_engine(url, **options)
    try:
        yield engine
    finally:
        engine.dispose()


def test_no_transaction_stays_open(backend: Backend, repository: Repository, topic: str) -> None:
    """An open one would keep the write-ahead log from being emptied, and it would grow for ever (PN-11)."""
    puppet = Puppet(topic)

    def empty_log() -> bool:
        with closing(backend.connect()) as connection:
            return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0))

    with started(create_notifier(backend.engine), puppet):
        for number in range(3):
            push(backend, repository, topic, f"task-{number}")
            puppet.wait("resume", number + 2)
            # A look that is under way at that moment is no open transaction.
            until(empty_log)


def test_a_writer_is_never_held_up(backend: Backend, repository: Repository, topic: str) -> None:
    """Looking needs no lock that a writer waits for (PN-11)."""
    puppet = Puppet(topic)
    with started(create_notifier(backend.engine), puppet), closing(sqlite3.connect(backend.dsn, timeout=0)) as writer:
        for number in range(200):
            repository.push(writer, topic, f"task-{number}")
            writer.commit()
        puppet.wait("resume", 2)


def test_an_open_writer_does_not_hold_up_the_watch(backend: Backend, repository: Repository, topic: str) -> None:
    """What was committed before it began is seen (PN-09)."""
    puppet = Puppet(topic)
    tx = backend.open()
    with started(create_notifier(backend.engine), puppet):
        push(backend, repository, topic, "a")
        repository.push(tx, topic, "b")
        puppet.wait("resume", 2)
        backend.rollback(tx)


def test_a_commit_that_brings_no_work_resumes_nobody(backend: Backend, repository: Repository, topic: str) -> None:
    """Polls and heartbeats commit too (PN-09)."""
    with backend.begin() as tx:
        repository.initialize(tx, "fence")
    push(backend, repository, topic, "a")
    assert poll(backend, repository, topic)
    puppet, fence = Puppet(topic), Puppet("fence")
    with started(create_notifier(backend.engine), puppet, fence):
        with backend.begin() as tx:
            repository.heartbeat(tx)
        assert poll(backend, repository, topic) == []
        push(backend, repository, "fence", "a")
        fence.wait("resume", 2)
    assert puppet.count("resume") == 1


def test_a_backlog_resumes_nobody_while_nothing_is_committed(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """A look that finds the same number is all that is done (PN-09)."""
    push(backend, repository, topic, "a")
    puppet = Puppet(topic)
    looks: list[str] = []

    def creator() -> sqlite3.Connection:
        made = sqlite3.connect(backend.dsn)
        made.set_trace_callback(looks.append)
        return made

    with (
        engine_for("sqlite://", creator=creator) as engine,
        started(create_notifier(engine, interval=timedelta(milliseconds=1)), puppet),
    ):
        until(lambda: looks.count(VERSION) > 20)
        assert puppet.count("resume") == 1
        push(backend, repository, topic, "b")
        puppet.wait("resume", 2)


def test_a_schema_that_goes_and_comes_back_is_survived(backend: Backend) -> None:
    """One report, and then it watches again (PN-11, PN-B5, PN-B6)."""
    errors, puppet = Errors(), Puppet("topic")
    notifier = create_notifier(backend.engine, on_error=errors)
    with started(notifier, puppet):
        with backend.begin() as tx:
            schema.uninstall(tx)
        assert isinstance(errors.wait()[0], SchemaError)
        assert notifier.active
        with backend.begin() as tx:
            schema.install(tx)
        puppet.wait("resume", 2)
        until(lambda: notifier.connected)
        repository = backend.repository("another")
        with backend.begin() as tx:
            repository.initialize(tx, "topic")
        push(backend, repository, "topic", "a")
        puppet.wait("resume", 3)
    assert len(errors.seen) == 1


def test_a_missing_schema_is_refused(backend: Backend) -> None:
    """The error is that of every other call (PN-07)."""
    with backend.begin() as tx:
        schema.uninstall(tx)
    with pytest.raises(SchemaError, match="install"):
        create_notifier(backend.engine).start([Puppet()])


@pytest.mark.parametrize("options", [{}, {"poolclass": sqlalchemy.StaticPool}], ids=["each its own", "one for all"])
def test_a_database_in_memory_is_refused(options: dict[str, Any]) -> None:
    """Another connection sees another database; the error says what to do (PN-07)."""
    with engine_for("sqlite://", **options) as engine:
        with engine.begin() as tx:
            schema.install(tx)
        with pytest.raises(InvalidTaskError, match=r"in memory.*PollingNotifier"):
            create_notifier(engine).start([Puppet()])


def test_connections_that_stay_on_their_thread_will_do(backend: Backend, repository: Repository, topic: str) -> None:
    """A creator of one's own need not know of threads (PN-11)."""
    puppet = Puppet(topic)
    made = []

    def creator() -> sqlite3.Connection:
        made.append(sqlite3.connect(backend.dsn, check_same_thread=True))
        return made[-1]

    with engine_for("sqlite://", creator=creator) as engine:
        notifier = create_notifier(engine)
        with started(notifier, puppet):
            push(backend, repository, topic, "a")
            puppet.wait("resume", 2)
            assert notifier.connected
    assert len(made) == 1


def test_an_asynchronous_engine_is_watched_by_its_url(backend: Backend, repository: Repository, topic: str) -> None:
    """Through sqlite3 beneath (PN-11)."""
    engine = create_async_engine(backend.url.replace("sqlite://", "sqlite+aiosqlite://"))
    puppet = Puppet(topic)
    with started(create_notifier(engine), puppet):
        push(backend, repository, topic, "a")
        puppet.wait("resume", 2)
    asyncio.run(engine.dispose())
