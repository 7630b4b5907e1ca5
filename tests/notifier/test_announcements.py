"""What is announced on PostgreSQL's channel, and when."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import psycopg
import pytest

from task_api import (
    Insertion,
    Listing,
    Revivification,
    TaskCreation,
    TaskDecision,
    TaskInfo,
    TaskRef,
    TaskRepository,
    TaskState,
)
from task_sql import schema
from tests.backends.steps import complete, poll, push
from tests.notifier.support import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.backends import Backend, Transaction

    Call = Callable[[Transaction, "Repository"], object]

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "plain")]
Repository = TaskRepository[Any]
FENCE = "the end of the test"


class Ear:
    """Hears what is announced."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._connection.execute("LISTEN task_notification")

    def heard(self) -> list[str]:
        """What was announced since the last call, topics by name where it is the usual one."""
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute("SELECT pg_notify('task_notification', %s)", [FENCE])
        payloads: list[str] = []
        for notification in self._connection.notifies(timeout=PATIENCE):
            if notification.payload == FENCE:
                return payloads
            payloads.append(notification.payload.replace(digest("topic"), "topic"))
        pytest.fail("the fence was not heard")

    def close(self) -> None:
        """Hear no more."""
        self._connection.close()


def digest(topic: str) -> str:
    """The topic as announcements name it."""
    return hashlib.md5(topic.encode(), usedforsecurity=False).hexdigest()


@pytest.fixture
def ear(backend: Backend) -> Iterator[Ear]:
    """Hears what is announced in the test's database."""
    made = Ear(backend.dsn)
    yield made
    made.close()


def pushed(tx: Transaction, repository: Repository) -> object:
    """Push one."""
    return repository.push(tx, "topic", "new")


def pushed_many(tx: Transaction, repository: Repository) -> object:
    """Push a thousand."""
    return repository.push_many(tx, "topic", [f"new-{number}" for number in range(1000)])


def superseded(tx: Transaction, repository: Repository) -> object:
    """Push in place of another."""
    return repository.push(tx, "topic", "ready", insertion=Insertion.SUPERSEDE)


def replaced(tx: Transaction, repository: Repository) -> object:
    """Push in place of another."""
    return repository.push(tx, "topic", "ready", insertion=Insertion.REPLACE)


def deleted(tx: Transaction, repository: Repository) -> object:
    """Push in place of another."""
    return repository.push(tx, "topic", "ready", insertion=Insertion.DELETE)


def released(tx: Transaction, repository: Repository) -> object:
    """Poll and give back."""
    tasks = repository.poll_many(tx, "topic", 1)
    repository.release(tx, "topic", tasks)
    return tasks


def promoted(tx: Transaction, repository: Repository) -> object:
    """Make the due one READY."""
    number = repository.promote(tx, "topic")
    assert number == 1
    return number


def joined(tx: Transaction, repository: Repository) -> object:
    """Release a group of one."""
    released = repository.junction(tx, "topic", [["suspended"]])
    assert released == {"suspended"}
    return released


def expected(tx: Transaction, repository: Repository) -> object:
    """Ask to be told what becomes of the READY one, which polls pass over until that is committed."""
    done, _ = cast("Any", repository).look(tx, TaskRef("topic", _ready(tx, repository).sequence))
    assert done is None
    return done


def linked(tx: Transaction, repository: Repository) -> object:
    """Let another one wait for the READY one, which polls pass over until that is committed."""
    return repository.push(tx, "topic", TaskCreation("next", after=(_ready(tx, repository),)))


def _ready(tx: Transaction, repository: Repository) -> TaskInfo:
    [ready] = repository.page(tx, "topic", listing=Listing(state=TaskState.READY))
    return ready


def revived(revivification: Revivification) -> Call:
    """Bring the failed one back."""

    def call(tx: Transaction, repository: Repository) -> object:
        done = repository.recreate_state(tx, "topic", revivification, TaskState.FAILED)
        assert len(done) == 1
        return done

    return call


def named(revivification: Revivification) -> Call:
    """Bring the failed one back by name."""

    def call(tx: Transaction, repository: Repository) -> object:
        (failed,) = [task for task in repository.page(tx, "topic") if task.state is TaskState.FAILED]
        return repository.recreate(tx, "topic", revivification, [failed])

    return call


CALLS: dict[str, Call] = {
    **{
        call.__name__: call
        for call in (pushed, pushed_many, superseded, replaced, deleted, released, promoted, joined, expected, linked)
    },
    **{each.name.lower(): revived(each) for each in Revivification},
    "reset named": named(Revivification.RESET),
    "append named": named(Revivification.APPEND),
}


@pytest.fixture
def scene(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that failed, one that is suspended, one that is due, and one that is READY."""
    push(backend, repository, topic, "failed")
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.FAILURE)
    push(backend, repository, topic, "suspended", suspended=True)
    push(backend, repository, topic, "due", due=timedelta())
    push(backend, repository, topic, "ready")


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize("name", CALLS)
def test_whatever_makes_tasks_ready_is_announced_once(
    backend: Backend, repository: Repository, ear: Ear, name: str
) -> None:
    """By insert or by update, when it is committed, for the topic alone (PN-08, PN-B1)."""
    ear.heard()
    tx = backend.open()
    CALLS[name](tx, repository)
    assert ear.heard() == []
    backend.commit(tx)
    assert ear.heard() == ["WORK topic"]


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize("name", CALLS)
def test_what_is_rolled_back_is_not_announced(backend: Backend, repository: Repository, ear: Ear, name: str) -> None:
    """It has not happened (PN-B1)."""
    ear.heard()
    tx = backend.open()
    CALLS[name](tx, repository)
    backend.rollback(tx)
    assert ear.heard() == []


def test_one_transaction_announces_each_topic_once(
    backend: Backend, repository: Repository, topic: str, ear: Ear
) -> None:
    """However often it pushes, and whatever else it does (PN-B1)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
        for number in range(50):
            repository.push(tx, topic, f"task-{number}")
            repository.push_many(tx, "other", ["a", "b"])
        repository.release(tx, topic, repository.poll_many(tx, topic, 10))
    assert sorted(ear.heard()) == sorted(["WORK topic", f"WORK {digest('other')}"])


def test_what_makes_nothing_ready_is_not_announced(
    backend: Backend, repository: Repository, topic: str, ear: Ear
) -> None:
    """A new topic, a poll, decisions, heartbeats, and calls that find nothing (PN-B1)."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    push(backend, repository, topic, "a", "b")
    ear.heard()
    one, two = poll(backend, repository, topic, 2)
    complete(backend, repository, topic, one)
    complete(backend, repository, topic, two, TaskDecision.FAILURE)
    with backend.begin() as tx:
        repository.heartbeat(tx)
        assert repository.promote(tx, topic) == 0
        assert repository.junction(tx, topic, [["a", "missing"]]) == set()
        assert repository.recreate_state(tx, topic, Revivification.RESET, TaskState.EXPIRED) == {}
        repository.purge(tx, topic)
    assert ear.heard() == []


def test_a_stored_wish_is_announced(backend: Backend, repository: Repository, topic: str, ear: Ear) -> None:
    """Once for each transaction that stores one (PN-08, PN-10)."""
    with backend.begin() as tx:
        repository.activate(tx, topic, active=True)
    with backend.begin() as tx:
        repository.activate(tx, topic, active=False)
        repository.activate(tx, topic, active=True)
    assert ear.heard() == ["ACTIVATION topic"] * 2


def test_a_schema_without_announcements_makes_none(backend: Backend, ear: Ear) -> None:
    """They can be left out when it is installed (PN-13)."""
    with backend.begin() as tx:
        schema.uninstall(tx)
        schema.install(tx, partitioned=backend.partitioned, notify=False)
    repository = backend.repository("another")
    with backend.begin() as tx:
        repository.initialize(tx, "topic")
        repository.activate(tx, "topic", active=True)
        repository.push(tx, "topic", TaskCreation("due", due=timedelta()))
        repository.push(tx, "topic", "a")
        repository.push_many(tx, "topic", ["b", "c"])
        repository.release(tx, "topic", repository.poll_many(tx, "topic", 10))
    with backend.begin() as tx:
        assert repository.promote(tx, "topic") == 1
    assert ear.heard() == []
