"""Topics and owners that several make known at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import TaskState
from tests.backends.steps import push, states
from tests.contention import roles
from tests.contention.member import CROWD, TIMEOUT, part
from tests.contention.plain_sql import hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver", "plain")
servers = pytest.mark.backends("postgresql", "oracle")

NAMES = [f"topic-{number}" for number in range(8)]


def test_topic_initialized_by_four_at_once_is_new_once(
    backend: Backend, repository: TaskRepository[Any], crowd: Threads | Processes
) -> None:
    """One of them is told that it is new, all can push to it (TO-01, TO-B2)."""
    created = crowd.race(*(part(f"owner-{index}", roles.initialize, topics=NAMES) for index in range(CROWD)))
    assert [sum(each) for each in zip(*created, strict=True)] == [1] * len(NAMES)
    for name in NAMES:
        assert list(states(backend, repository, name).values()) == [TaskState.READY] * CROWD


def test_different_topics_initialized_at_once_are_all_new(
    backend: Backend, repository: TaskRepository[Any], crowd: Threads | Processes
) -> None:
    """Initialising different topics at once succeeds for all (TO-01, PA-B1)."""
    names = [[f"{name}-of-{index}" for name in NAMES] for index in range(CROWD)]
    created = crowd.race(*(part(f"owner-{index}", roles.initialize, topics=names[index]) for index in range(CROWD)))
    assert created == [[True] * len(NAMES)] * CROWD
    with backend.begin() as transaction:
        assert repository.topics(transaction) == {name for each in names for name in each}


@servers
def test_open_initialization_holds_up_nobody(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """While a new topic is uncommitted, work on other topics goes on without waiting (PA-B1)."""
    push(backend, repository, topic, "a", "b")
    initializing = backend.open()
    repository.initialize(initializing, "new")
    repository.push(initializing, "new", "a")
    for number in range(CROWD):
        other = backend.repository(f"other-{number}")
        working = backend.open()
        hurry(working)
        other.push(working, topic, "c")
        task = other.poll(working, topic)
        assert task is not None
        other.complete(working, topic, task)
        other.expire(working, roles.STALE)
        assert len(other.count(working)[topic]) == 2
        assert "new" not in other.topics(working)
        backend.commit(working)
    backend.commit(initializing)
    assert list(states(backend, repository, "new").values()) == [TaskState.READY]


@servers
def test_initialization_waits_for_nobody_who_works(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """While others have open pushes and polls, a new topic is made without waiting (PA-B1)."""
    push(backend, repository, topic, "a", "b", "c", "d")
    for number in range(CROWD):
        other = backend.repository(f"other-{number}")
        working = backend.open()
        other.push(working, topic, "e")
        assert other.poll(working, topic) is not None
    initializing = backend.open()
    hurry(initializing)
    assert repository.initialize(initializing, "new")
    backend.commit(initializing)


@servers
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_second_initialization_follows_the_end_of_the_first(actor: Callable[[str], Actor], end: str) -> None:
    """Overlapping with an open one, it is told whether that one committed (TO-01, TO-B2)."""
    first, second = actor("first"), actor("second")
    assert first.run(lambda r, tx: r.initialize(tx, "new"))
    attempt = second.start(lambda r, tx: r.initialize(tx, "new"))
    second.waits(attempt)
    getattr(first, end)()
    assert attempt.result(TIMEOUT) == (end == "rollback")
    second.run(lambda r, tx: r.push(tx, "new", "a"))
    second.commit()


def test_owner_registered_by_four_at_once_is_new_once(backend: Backend, crowd: Threads | Processes) -> None:
    """Of four that register one owner in the same moment one is told that it is new (OW-01)."""
    names = [f"owner-{number}" for number in range(15)]
    new = crowd.race(*(part(f"racer-{index}", roles.register, url=backend.url, owners=names) for index in range(CROWD)))
    assert [sum(each) for each in zip(*new, strict=True)] == [1] * len(names)


@servers
def test_heartbeats_and_registrations_do_not_wait_for_open_work(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """An owner beats and registers again while its own claims are open elsewhere (OW-03, OW-14)."""
    push(backend, repository, topic, "a")
    working, beating = backend.open(), backend.open()
    assert repository.poll(working, topic) is not None
    hurry(beating)
    repository.heartbeat(beating)
    assert not repository.register(beating)
    backend.commit(beating)
