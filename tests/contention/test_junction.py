"""No lost wake-up: a junction completed by several transactions is released exactly once (P6)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Junction, TaskCreation, TaskDecision, TaskState
from tests.backends.steps import poll, push, states
from tests.contention import roles
from tests.contention.member import CROWD, TIMEOUT, part

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")

GROUPS = [[f"{number}-{index}" for index in range(CROWD)] for number in range(20)]


@pytest.mark.parametrize("junction", Junction)
@pytest.mark.kinds("plain")
def test_group_whose_parts_arrive_at_once_is_released_once(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    crowd: Threads | Processes,
    junction: Junction,
) -> None:
    """Of four that each push a part suspended and join, one releases all, the others none (P6, JU-B4)."""
    released = crowd.race(
        *(
            part(f"part-{index}", roles.arrive, topic=topic, groups=GROUPS, index=index, junction=junction)
            for index in range(CROWD)
        )
    )
    _assert_released_once(released)
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}


def test_group_whose_parts_are_suspended_at_once_is_released_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Four that each complete a part as suspended and join: one of them releases all (P6, JU-B4)."""
    push(backend, repository, topic, *(identifier for group in GROUPS for identifier in group))
    tasks = poll(backend, repository, topic, CROWD * len(GROUPS))
    released = crowd.race(
        *(part("me", roles.suspend, topic=topic, groups=GROUPS, tasks=tasks[index::CROWD]) for index in range(CROWD))
    )
    _assert_released_once(released)
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}


def _assert_released_once(released: list[list[set[str]]]) -> None:
    for group, parts in zip(GROUPS, zip(*released, strict=True), strict=True):
        assert sorted(map(sorted, parts)) == [[], [], [], sorted(group)]


@servers
@pytest.mark.parametrize("arrival", ["pushed", "completed"])
@pytest.mark.parametrize("first", ["a", "b"])
def test_halves_brought_by_open_transactions_are_released_once(
    backend: Backend, topic: str, actor: Callable[[str], Actor], arrival: str, first: str
) -> None:
    """Both halves are there but neither is committed when the junctions begin (P6, JU-B4)."""
    halves = {identifier: actor(identifier) for identifier in "ab"}
    bring = _pushed if arrival == "pushed" else _completed
    bringing = {half: bring(backend, topic, half, identifier) for identifier, half in halves.items()}
    for half, future in bringing.items():
        half.waits(future)  # none need wait; one that does is let go by the other's commit
    one, two = sorted(halves.values(), key=lambda half: half is not halves[first])
    join = partial(_join, topic=topic)
    released = [one.run(join)]
    joining = two.start(join)
    two.waits(joining)
    one.commit()
    released.append(joining.result(TIMEOUT))
    two.commit()
    assert sorted(map(sorted, released)) == [[], ["a", "b"]]
    assert set(states(backend, halves["a"].repository, topic).values()) == {TaskState.READY}


def _pushed(_: Backend, topic: str, half: Actor, identifier: str) -> Future[Any]:
    return half.start(lambda r, tx: r.push(tx, topic, TaskCreation(identifier, suspended=True)))


def _completed(backend: Backend, topic: str, half: Actor, identifier: str) -> Future[Any]:
    push(backend, half.repository, topic, identifier)
    [task] = poll(backend, half.repository, topic)
    return half.start(lambda r, tx: r.complete(tx, topic, task, TaskDecision.SUSPENSION))


def _join(repository: TaskRepository[Any], transaction: Transaction, topic: str) -> set[str]:
    return repository.junction(transaction, topic, [["a", "b"]])


@servers
def test_half_that_is_rolled_back_releases_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, actor: Callable[[str], Actor]
) -> None:
    """A half that is rolled back does not count; when it comes again, all are released (P6, JU-04)."""
    doomed, lasting = actor("doomed"), actor("lasting")
    join = partial(_join, topic=topic)
    _pushed(backend, topic, doomed, "a").result(TIMEOUT)
    assert doomed.run(join) == set()
    _pushed(backend, topic, lasting, "b")
    joining = lasting.start(join)
    lasting.waits(joining)
    doomed.rollback()
    assert joining.result(TIMEOUT) == set()
    lasting.commit()
    _pushed(backend, topic, doomed, "a").result(TIMEOUT)
    assert doomed.run(join) == {"a", "b"}
    doomed.commit()
    assert set(states(backend, repository, topic).values()) == {TaskState.READY}
