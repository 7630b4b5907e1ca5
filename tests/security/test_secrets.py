"""A password is shown nowhere, whatever goes wrong with it: not in errors, names, logs, health or on the console."""

from __future__ import annotations

import signal
import subprocess
import threading
import traceback
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import SQLAlchemyError

from task_api import InvalidTaskError
from task_processor import TaskManager, Worker, each
from task_sql import create_engine, create_notifier, create_repository
from tests.console.calls import COMMAND, environment, invoke
from tests.console.test_mistakes import CALLS
from tests.processor.support import PATIENCE, eventually
from tests.security.gatekeeper import Gatekeeper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Engine

    from task_api import TaskRepository
    from tests.backends import Backend

SECRET = "s3cr3t/p@ss w0rd"  # noqa: S105 - of nobody
QUOTED = "s3cr3t%2Fp%40ss%20w0rd"
PARTS = ("s3cr3t", "w0rd", QUOTED)
OURS = ("task_api", "task_sql", "task_processor", "task_console", "topiq")
SOON = timedelta(milliseconds=300)


@pytest.fixture
def gatekeeper() -> Iterator[Gatekeeper]:
    """A server that finds every password wrong."""
    with Gatekeeper() as keeper:
        yield keeper


@pytest.fixture(params=["wrong password", "no server"])
def url(request: pytest.FixtureRequest, gatekeeper: Gatekeeper) -> str:
    """A URL with a password that leads nowhere."""
    port = gatekeeper.port if request.param == "wrong password" else 1
    return f"postgresql://u:{QUOTED}@127.0.0.1:{port}/name"


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """An engine whose connections fail."""
    made = create_engine(url, connect_args={"connect_timeout": 5})
    yield made
    made.dispose()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that we log, and what others warn of."""
    for name in OURS:
        caplog.set_level("DEBUG", name)
    return caplog


def _shown(*things: object) -> str:
    """All that a program might show of things, errors with their traces."""
    texts = [f"{thing} {thing!r}" for thing in things]
    traces = ["".join(traceback.format_exception(thing)) for thing in things if isinstance(thing, BaseException)]
    return "\n".join(texts + traces)


def _assert_clean(text: str) -> None:
    assert [part for part in PARTS if part in text] == [], text


def test_the_server_is_shown_the_password_and_nobody_else(gatekeeper: Gatekeeper) -> None:
    """Otherwise these tests would prove nothing."""
    engine = create_engine(f"postgresql://u:{QUOTED}@127.0.0.1:{gatekeeper.port}/name")
    with pytest.raises(SQLAlchemyError, match="password authentication failed"):
        engine.connect()
    engine.dispose()
    assert gatekeeper.seen[0] == SECRET


def test_errors_and_names_have_no_password(engine: Engine) -> None:
    """What a call raises, with all that led to it, and what objects are called in a log or a debugger."""
    repository = create_repository(engine)
    with pytest.raises(SQLAlchemyError) as caught, engine.begin() as tx:
        repository.push(tx, "topic", "a")
    _assert_clean(_shown(caught.value, engine, engine.url, repository, create_notifier(engine)))


def test_a_password_that_can_not_be_read_is_not_taken_for_a_host() -> None:
    """The sign that ends it is not written as it has to be."""
    with pytest.raises(InvalidTaskError, match="write @ as %40") as caught:
        create_engine("postgresql://user:s3cr3t@w0rd@localhost/name")
    assert not any(part in str(caught.value) for part in PARTS)


def test_a_notifier_logs_no_password(engine: Engine, log: pytest.LogCaptureFixture) -> None:
    """It says what is wrong, again and again, until it gets through."""
    notifier = create_notifier(engine)
    notifier.start([_manager(engine, create_repository(engine))])
    try:
        eventually(lambda: [record for record in log.records if record.name == "task_sql.notifier"])
    finally:
        notifier.stop()
    assert "OperationalError" in log.text
    _assert_clean(log.text + _shown(notifier))


def test_a_worker_that_waits_for_its_database_logs_no_password(engine: Engine, log: pytest.LogCaptureFixture) -> None:
    """Nor does its error, when it has waited for too long."""
    repository = create_repository(engine)
    worker = Worker(repository, engine.begin, [_manager(engine, repository)])
    with pytest.raises(TimeoutError, match="the database was away") as caught:
        worker.start(SOON)
    assert "waits for the database" in log.text
    _assert_clean(log.text + _shown(caught.value, worker, worker.health))


@pytest.mark.kinds("connection")
@pytest.mark.backends("sqlite")
def test_the_health_of_a_worker_shows_no_password(
    backend: Backend, topic: str, engine: Engine, log: pytest.LogCaptureFixture
) -> None:
    """Its database goes away while it runs; what fails at present is told without."""
    engines = [backend.engine]

    @contextmanager
    def dispatcher() -> Iterator[Any]:
        with engines[-1].begin() as tx:
            yield tx

    repository = create_repository(backend.engine)
    manager = TaskManager(topic, repository, dispatcher, each(lambda _: None), pause=timedelta(milliseconds=20))
    worker = Worker(repository, dispatcher, [manager], heartbeat=timedelta(milliseconds=20))
    worker.start()
    try:
        engines.append(engine)
        eventually(lambda: worker.health.errors and worker.health.topics[topic].last_error)
        health = worker.health
    finally:
        engines.append(backend.engine)
        worker.stop()
    assert "failed and is tried again" in log.text
    _assert_clean(log.text + _shown(health, health.errors, health.topics))


def test_no_command_shows_a_password(url: str) -> None:
    """One line tells what is wrong, and where, with the password left out."""
    for command in [*CALLS.values(), ["demo"], ["schema", "install"], ["schema", "uninstall", "--yes"]]:
        arguments = ["--url", url] if command == ["demo"] else []
        result = invoke(*command, *arguments, url=url)
        assert result.exit_code == 3, command
        assert "postgresql://u:***@" in result.output
        _assert_clean(result.output)


def test_a_worker_on_the_console_shows_no_password(url: str, tmp_path: Path) -> None:
    """With all that there is to log, until it is told to end."""
    (tmp_path / "shop.py").write_text(
        "from task_processor import TaskManager, Worker, each\n"
        "from task_sql import create_repository\n"
        "def worker(engine):\n"
        "    tasks = create_repository(engine)\n"
        "    return Worker(tasks, engine.begin, [TaskManager('topic', tasks, engine.begin, each(print))])\n"
    )
    lines = []
    with subprocess.Popen(  # noqa: S603 - ours
        [*COMMAND, "work", "shop:worker", "--log-level", "debug"],
        cwd=tmp_path,
        env=environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        killed = threading.Timer(PATIENCE, process.kill)
        killed.start()
        for line in process.stdout or ():
            lines.append(line)
            if "waits for the database" in line:
                process.send_signal(signal.SIGTERM)
        killed.cancel()
    assert process.returncode == 0, lines
    assert any("waits for the database" in line for line in lines)
    _assert_clean("".join(lines))


def _manager(engine: Engine, repository: TaskRepository[Any]) -> TaskManager[Any]:
    return TaskManager("topic", repository, engine.begin, each(lambda _: None))
