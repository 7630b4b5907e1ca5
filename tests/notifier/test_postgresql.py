"""Listening on PostgreSQL: what is heard, and what is survived."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import threading
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

import task_sql
from task_api import InvalidTaskError, SchemaError, TaskRepository
from task_sql import create_notifier, schema
from task_sql.notifier import notifier as module
from task_sql.notifier import postgresql
from task_sql.notifier.postgresql import PostgresSource
from task_sql.notifier.reporting import reporting
from task_sql.notifier.switchboard import Switchboard
from tests.backends.steps import push
from tests.notifier.proxy import Proxy
from tests.notifier.support import PATIENCE, Errors, Puppet, started, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.backends import Backend

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
Repository = TaskRepository[Any]

SHORT = timedelta(milliseconds=200)
LISTENERS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND query ILIKE '%listen%' AND pid <> pg_backend_pid()
"""


@pytest.fixture
def errors() -> Errors:
    """What was reported."""
    return Errors()


def notify(backend: Backend, *payloads: str) -> None:
    """Announce, all in one transaction."""
    with psycopg.connect(backend.dsn) as connection:
        for payload in payloads:
            connection.execute("SELECT pg_notify('task_notification', %s)", [payload])


def digest(topic: str) -> str:
    """The topic as announcements name it."""
    return hashlib.md5(topic.encode(), usedforsecurity=False).hexdigest()


@contextmanager
def engine_for(url: str, **options: Any) -> Iterator[sqlalchemy.Engine]:
    """An engine that is disposed of in the end."""
    engine = task_sql.create_engine(url, **options)
    try:
        yield engine
    finally:
        engine.dispose()


def test_the_payload_names_event_and_topic(backend: Backend) -> None:
    """An event word, a blank, and the MD5 of the topic in hexadecimal (PN-08, PN-09, PN-10)."""
    a, b = Puppet("a"), Puppet("b")
    with started(create_notifier(backend.engine), a, b):
        a.wait("activation")
        b.wait("activation")
        notify(backend, f"WORK {digest('a')}")
        a.wait("resume", 2)
        notify(backend, f"ACTIVATION {digest('b')}")
        b.wait("activation", 2)
    assert (a.count("activation"), b.count("resume")) == (1, 1)


@pytest.mark.parametrize(
    "payload",
    ["", " ", "WORK", "WORK ", "work {}", "SLEEP {}", "{}", "WORK  {}", "WORK {} ", "WORK {}x", "WORK\t{}", "WORK äöü"],
)
def test_malformed_payloads_are_ignored(backend: Backend, errors: Errors, payload: str) -> None:
    """Others may use the channel, and the loop goes on (PN-08, PN-B6)."""
    puppet, fence = Puppet("a"), Puppet("fence")
    with started(create_notifier(backend.engine, on_error=errors), puppet, fence):
        notify(backend, payload.format(digest("a")))
        notify(backend, f"WORK {digest('fence')}")
        fence.wait("resume", 2)
    assert puppet.count("resume") == 1
    assert errors.seen == []


def test_unknown_topics_are_ignored(backend: Backend, errors: Errors) -> None:
    """Topics that others work on resume nobody here (PN-08)."""
    puppet = Puppet("a")
    with started(create_notifier(backend.engine, on_error=errors), puppet):
        notify(backend, f"WORK {digest('b')}", f"ACTIVATION {digest('b')}")
        notify(backend, f"WORK {digest('a')}")
        puppet.wait("resume", 2)
    assert (puppet.count("resume"), errors.seen) == (2, [])


def test_announcements_that_wait_are_one(backend: Backend) -> None:
    """A burst that came while the notifier was busy resumes each processor once (PN-09)."""
    gate, begun = threading.Event(), threading.Event()
    slow, puppet, fence = Puppet("slow"), Puppet("a"), Puppet("fence")

    def wait() -> None:
        begun.set()
        assert gate.wait(PATIENCE)

    with started(create_notifier(backend.engine), slow, puppet, fence):
        slow.before["resume"] = wait
        notify(backend, f"WORK {digest('slow')}")
        assert begun.wait(PATIENCE)
        for _ in range(50):
            notify(backend, f"WORK {digest('a')}")
        notify(backend, f"WORK {digest('fence')}")
        gate.set()
        fence.wait("resume", 2)
    # Those that the server had not sent yet when the others were read make further turns, but few.
    assert 2 <= puppet.count("resume") < 20


def test_a_terminated_connection_is_made_again(
    backend: Backend, repository: Repository, topic: str, errors: Errors
) -> None:
    """It listens anew, catches up, and hears the next push; one report (PN-11, PN-B5)."""
    puppet = Puppet(topic)
    notifier = create_notifier(backend.engine, on_error=errors)
    with started(notifier, puppet):
        [(old,)] = backend.sql(LISTENERS)
        backend.sql("SELECT pg_terminate_backend(:pid)", pid=old)
        puppet.wait("resume", 2)
        until(lambda: notifier.connected)
        [(new,)] = [row for row in backend.sql(LISTENERS) if row[0] != old]
        assert new != old
        push(backend, repository, topic, "a")
        puppet.wait("resume", 3)
        assert notifier.active
    assert len(errors.seen) == 1
    assert isinstance(errors.seen[0], psycopg.OperationalError | ConnectionError)


def test_what_was_pushed_and_stored_while_it_was_deaf_is_caught_up_on(
    backend: Backend, repository: Repository, topic: str, errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection is found out by its silence, though nobody closed it (PN-11, PN-B5)."""
    monkeypatch.setattr(postgresql, "_ANSWER", 1.0)
    puppet = Puppet(topic)
    with Proxy(backend.url) as proxy, engine_for(proxy.url) as engine:
        notifier = create_notifier(engine, probe=SHORT, on_error=errors)
        with started(notifier, puppet):
            puppet.wait("activation")
            proxy.freeze(new=True)
            push(backend, repository, topic, "a")
            puppet.stored = True
            assert "did not answer within 1 s" in str(errors.wait()[0])
            until(lambda: not notifier.connected)
            assert (notifier.active, puppet.count("resume")) == (True, 1)
            proxy.thaw()
            proxy.cut()  # the attempt that got no answer
            puppet.wait("resume", 2)
            puppet.wait("initialize")
            push(backend, repository, topic, "b")
            puppet.wait("resume", 3)


def test_a_healthy_connection_survives_many_probes(
    backend: Backend, repository: Repository, topic: str, errors: Errors
) -> None:
    """Announcements that come beside an answer are heard too (PN-09, PN-11)."""
    puppet = Puppet(topic)
    notifier = create_notifier(backend.engine, probe=timedelta(milliseconds=1), on_error=errors)
    with started(notifier, puppet):
        for number in range(100):
            push(backend, repository, topic, f"task-{number}")
            puppet.wait("resume", number + 2)
        assert notifier.connected
    assert errors.seen == []


def test_a_start_through_a_dead_network_takes_only_so_long(backend: Backend) -> None:
    """A server that accepts and says nothing is neither there nor away (PN-07)."""
    with Proxy(backend.url) as proxy, engine_for(proxy.url) as engine:
        proxy.freeze(new=True)
        notifier = create_notifier(engine)
        with pytest.raises(TimeoutError):
            notifier.start([Puppet()], timeout=SHORT)
        assert not notifier.active


def test_a_stop_through_a_dead_network_is_prompt(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt to connect again is left to itself (PN-09)."""
    monkeypatch.setattr(module, "_OPENING", 3600.0)
    monkeypatch.setattr(postgresql, "_ANSWER", 1.0)
    errors = Errors()
    with Proxy(backend.url) as proxy, engine_for(proxy.url) as engine:
        notifier = create_notifier(engine, probe=SHORT, on_error=errors)
        assert notifier.start([Puppet()])
        proxy.freeze(new=True)
        errors.wait()
        assert notifier.stop(timeout=timedelta(seconds=PATIENCE))


def test_a_network_that_is_cut_again_and_again_is_survived(
    backend: Backend, repository: Repository, topic: str, errors: Errors
) -> None:
    """Each time all are told, and the last connection works (PN-11, PN-B5)."""
    puppet = Puppet(topic)
    with Proxy(backend.url) as proxy, engine_for(proxy.url) as engine:
        notifier = create_notifier(engine, on_error=errors)
        with started(notifier, puppet):
            for number in range(4):
                until(lambda: notifier.connected)
                proxy.cut()
                puppet.wait("resume", number + 2)
            until(lambda: notifier.connected)
            before = puppet.count("resume")
            push(backend, repository, topic, "a")
            puppet.wait("resume", before + 1)


def test_after_the_stop_nothing_is_resumed_or_left_open(backend: Backend, repository: Repository, topic: str) -> None:
    """The connection is gone when the stop returns, so that nothing can be heard (PN-09)."""
    puppet = Puppet(topic)
    with started(create_notifier(backend.engine), puppet):
        assert len(backend.sql(LISTENERS)) == 1
    push(backend, repository, topic, "a")
    until(lambda: backend.sql(LISTENERS) == [])
    assert puppet.count("resume") == 1


def test_a_schema_that_announces_nothing_is_refused(backend: Backend) -> None:
    """Waiting for what never comes would be no service; the error says what to do (PN-13)."""
    backend.sql("UPDATE task_schema SET notify = false")
    notifier = create_notifier(backend.engine)
    with pytest.raises(InvalidTaskError, match=r"notify=False.*PollingNotifier"):
        notifier.start([Puppet()])
    assert not notifier.active


def test_a_missing_schema_is_refused(backend: Backend) -> None:
    """The error is that of every other call (PN-07)."""
    with backend.begin() as tx:
        schema.uninstall(tx)
    with pytest.raises(SchemaError, match="install"):
        create_notifier(backend.engine).start([Puppet()])


def test_it_takes_nobodys_place_in_the_pool(backend: Backend, repository: Repository, topic: str) -> None:
    """An engine that has given out all its connections can still be listened by (PN-11)."""
    puppet = Puppet(topic)
    with (
        engine_for(backend.url, pool_size=1, max_overflow=0, pool_timeout=0.01) as engine,
        engine.connect() as connection,
    ):
        with started(create_notifier(engine), puppet):
            push(backend, repository, topic, "a")
            puppet.wait("resume", 2)
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1


def test_it_connects_as_the_engine_does(backend: Backend) -> None:
    """Arguments, a creator and events of the engine count for the notifier's connection (PN-11)."""
    made: list[psycopg.Connection[Any]] = []

    def creator() -> psycopg.Connection[Any]:
        made.append(psycopg.connect(backend.dsn, application_name="by hand"))
        return made[-1]

    seen = []
    with engine_for("postgresql://nowhere/nothing", creator=creator, poolclass=StaticPool) as engine:
        sqlalchemy.event.listen(engine, "connect", lambda connection, _: seen.append(connection))
        with started(create_notifier(engine), Puppet()):
            assert [row[0] for row in backend.sql(LISTENERS)] == [made[-1].info.backend_pid]
            assert seen[-1] is made[-1]
            assert made[-1].info.get_parameters()["application_name"] == "by hand"
        for connection in made:
            connection.close()


def test_an_asynchronous_engine_is_listened_by_its_url(backend: Backend, repository: Repository, topic: str) -> None:
    """The driver is the same, its synchronous side beneath (PN-11)."""
    engine = create_async_engine(backend.url)
    puppet = Puppet(topic)
    with started(create_notifier(engine), puppet):
        push(backend, repository, topic, "a")
        puppet.wait("resume", 2)
    asyncio.run(engine.dispose())


def test_topics_are_named_in_the_encoding_of_the_server(postgresql_url: str) -> None:
    """MD5 is of bytes, and a database need not be in UTF-8 (PN-08)."""
    name = f"topiq_latin_{os.getpid()}"
    database = sql.Identifier(name)
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0").format(database)
        )
    url = sqlalchemy.make_url(postgresql_url).set(drivername="postgresql+psycopg", database=name)
    puppet = Puppet("für")
    try:
        with engine_for(url.render_as_string(hide_password=False)) as engine:
            repository = task_sql.create_repository(engine)
            with engine.begin() as tx:
                schema.install(tx)
                repository.initialize(tx, "für")
            with started(create_notifier(engine), puppet):
                with engine.begin() as tx:
                    repository.push(tx, "für", "a")
                puppet.wait("resume", 2)
    finally:
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


def test_a_session_that_no_longer_listens_is_found_out(backend: Backend) -> None:
    """As behind a pooler that lends the session to somebody else; the error says what to do (PN-11)."""
    made: list[psycopg.Connection[Any]] = []

    def creator() -> psycopg.Connection[Any]:
        made.append(psycopg.connect(backend.dsn))
        return made[-1]

    board = Switchboard([], reporting(None))
    with engine_for("postgresql://", creator=creator) as engine:
        feed = PostgresSource(engine, timedelta(milliseconds=1)).open([])
        made[-1].execute("UNLISTEN *")

        def attend() -> None:
            for _ in range(1000):
                feed.attend(board)

        with pytest.raises(ConnectionError, match=r"no longer listens.*direct URL"):
            attend()
        feed.close()
    board.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system has no such option")
def test_the_system_gives_up_what_nobody_acknowledges(backend: Backend) -> None:
    """Unless the connection was made with a limit of its own (PN-11)."""

    def limit(**options: Any) -> int:
        made: list[psycopg.Connection[Any]] = []

        def creator() -> psycopg.Connection[Any]:
            made.append(psycopg.connect(dsn, **options))
            return made[-1]

        with engine_for("postgresql://", creator=creator) as engine:
            feed = PostgresSource(engine, timedelta(seconds=7)).open([])
            with closing(feed), socket.socket(fileno=os.dup(made[-1].fileno())) as connection:
                return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    with Proxy(backend.url) as proxy:
        dsn = proxy.url.replace("+psycopg", "")
        assert (limit(), limit(tcp_user_timeout=5000)) == (14000, 5000)


@pytest.mark.parametrize("name", ["probe", "interval"])
def test_wrong_settings_are_refused(backend: Backend, name: str) -> None:
    """Before anything happens."""
    options: dict[str, Any] = {name: timedelta()}
    with pytest.raises(InvalidTaskError, match=f"{name} must be a timedelta of more than 0"):
        create_notifier(backend.engine, **options)


def test_what_is_no_engine_is_refused(backend: Backend) -> None:
    """A connection would be somebody else's."""
    wrong: Any
    with closing(backend.connect()) as wrong, pytest.raises(InvalidTaskError, match=r"engine, not psycopg\.Connection"):
        create_notifier(wrong)
