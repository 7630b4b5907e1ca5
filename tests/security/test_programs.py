"""Whole programs that have the rights of their role alone: a worker and its notifier, one that waits, an operator."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import AccessError, TaskRef, TaskState
from task_processor import TaskManager, Worker, each
from task_sql import create_engine, create_notifier, create_repository
from tests.console.calls import failure, invoke
from tests.processor.support import BRISK, LONG, PATIENCE, eventually
from tests.security.calls import TOPIC, set_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from tests.backends import Backend
    from tests.security.accounts import Account, Accounts

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "plain")]


@pytest.fixture
def engines() -> Iterator[Engines]:
    """Engines of users, closed before the users go."""
    made = Engines()
    yield made
    for engine in made.all:
        engine.dispose()


class Engines:
    """Makes engines, and knows them."""

    def __init__(self) -> None:
        self.all: list[Engine] = []

    def __call__(self, account: Account) -> Engine:
        """Make the engine of a user."""
        self.all.append(create_engine(account.url))
        return self.all[-1]


def test_a_worker_runs_and_is_woken_and_a_producer_waits(
    backend: Backend, accounts: Accounts, engines: Engines
) -> None:
    """Upkeep included: it beats, expires, revives, promotes and forgets, and nothing of it fails."""
    with backend.begin() as tx:
        set_up(backend.repository("ghost"), tx)
    mine, theirs = engines(accounts.user("worker")), engines(accounts.user("producer", "reader"))
    repository: Any = create_repository(mine)
    seen: list[str] = []
    manager = TaskManager(TOPIC, repository, mine.begin, each(lambda task: seen.append(task.identifier)), pause=LONG)
    notifier = create_notifier(mine)
    worker = Worker(repository, mine.begin, [manager], notifier=notifier, purge=timedelta(milliseconds=100), **BRISK)
    with worker:
        eventually(lambda: notifier.connected and {"held", "next", "due", "ready"} <= set(seen))
        producer: Any = create_repository(theirs)
        with theirs.begin() as tx:
            task = producer.push(tx, TOPIC, "asked")
        info = producer.wait(theirs.begin, TaskRef(TOPIC, task.sequence), timedelta(seconds=PATIENCE))
        assert info.state is TaskState.SUCCEEDED
        assert worker.health.errors == {}
        assert worker.health.topics[TOPIC].last_error is None


@pytest.mark.parametrize("role", ["reader", "producer"])
def test_a_worker_without_the_rights_of_one_ends_at_once(
    backend: Backend, accounts: Accounts, engines: Engines, role: str
) -> None:
    """To wait for rights as for a server that is away would hide the mistake."""
    engine = engines(accounts.user(role))
    repository: Any = create_repository(engine)
    with backend.begin() as tx:
        repository.initialize(tx, TOPIC)
    worker = Worker(repository, engine.begin, [TaskManager(TOPIC, repository, engine.begin, each(print))])
    with pytest.raises(AccessError, match="permission denied for table task_owner"):
        worker.start(timedelta(seconds=PATIENCE))
    assert worker.health.alive is False


def test_an_operator_has_the_commands(backend: Backend, accounts: Accounts) -> None:
    """Those that look, and those that mend; what is left to the owner of the tables is refused in a line."""
    operator = accounts.user("operator")
    with backend.begin() as tx:
        scene = set_up(operator.repository, tx)
    failed, held = str(scene.failed.sequence), str(scene.held.sequence)
    commands = [
        ["topics"], ["count"], ["list", TOPIC], ["show", TOPIC, failed], ["results"], ["owners"], ["explain", TOPIC],
        ["watch", "--samples", "1"], ["pause", TOPIC], ["resume", TOPIC], ["release", TOPIC, held],
        ["revive", TOPIC, failed], ["expire", "--timeout", "1h"], ["push", TOPIC, "more"],
        ["purge", TOPIC, "--before", "now", "--yes"], ["schema", "version"],
    ]  # fmt: skip
    for command in commands:
        result = invoke(*command, url=operator.url)
        assert result.exit_code == 0, (command, result.output)
    for command in (["init", "another"], ["destroy", TOPIC, "--yes"], ["schema", "uninstall", "--yes"]):
        code, line = failure(invoke(*command, url=operator.url))
        assert code == 1, command
        assert "permission denied" in line or "must be owner" in line


def test_a_reader_has_the_commands_that_look(backend: Backend, accounts: Accounts) -> None:
    """And no other."""
    reader = accounts.user("reader")
    with backend.begin() as tx:
        set_up(reader.repository, tx)
    for command in (
        ["topics"],
        ["count"],
        ["list", TOPIC],
        ["owners"],
        ["explain", TOPIC],
        ["watch", "--samples", "1"],
    ):
        result = invoke(*command, url=reader.url)
        assert result.exit_code == 0, (command, result.output)
    for command in (["push", TOPIC, "a"], ["pause", TOPIC], ["purge", TOPIC, "--before", "now", "--yes"]):
        code, line = failure(invoke(*command, url=reader.url))
        assert code == 1, command
        assert "permission denied" in line
