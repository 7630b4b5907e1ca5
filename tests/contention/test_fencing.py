"""Only the present holder decides (P2)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, LostTaskError, Revivification, Task, TaskState
from tests.backends.steps import complete, info, poll, push
from tests.contention import ledger, roles
from tests.contention.member import CROWD, part
from tests.contention.plain_sql import hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Process, Processes
    from tests.contention.threads import Threads

pytestmark = pytest.mark.kinds("driver")

ROUNDS = 25
CALLS: dict[str, Callable[[TaskRepository[Any], Any, str, Task], object]] = {
    "complete": lambda repository, tx, topic, task: repository.complete(tx, topic, task),
    "release": lambda repository, tx, topic, task: repository.release(tx, topic, [task]),
    "extend": lambda repository, tx, topic, task: repository.extend(tx, topic, [task], timedelta(hours=1)),
    "checkpoint": lambda repository, tx, topic, task: repository.checkpoint(tx, topic, task, "stale"),
}


def expire_and_reset(backend: Backend, topic: str, owner: str) -> None:
    """Another repository finds the owner dead and makes its tasks READY again."""
    rescuer = backend.repository("rescuer")
    backend.age_owner(owner, 3600)
    with backend.begin() as transaction:
        assert rescuer.expire(transaction, roles.STALE) == 1
        assert len(rescuer.recreate_state(transaction, topic, Revivification.RESET, TaskState.EXPIRED)) == 1


@pytest.mark.parametrize("call", CALLS)
def test_stale_claim_is_refused_after_the_same_owner_polled_again(
    backend: Backend, repository: TaskRepository[Any], topic: str, call: str
) -> None:
    """After expire, reset and a new poll by the same owner the old claim is void (P2, CO-B2)."""
    push(backend, repository, topic, "a")
    [stale] = poll(backend, repository, topic)
    expire_and_reset(backend, topic, "me")
    [fresh] = poll(backend, repository, topic)
    with backend.begin() as transaction, pytest.raises(LostTaskError) as raised:
        CALLS[call](repository, transaction, topic, stale)
    assert raised.value.tasks == {stale}
    assert fresh.token > stale.token
    complete(backend, repository, topic, fresh)
    assert info(backend, repository, topic, fresh).state == TaskState.SUCCEEDED


@pytest.mark.parametrize("call", CALLS)
def test_ejected_holder_is_refused(backend: Backend, repository: TaskRepository[Any], topic: str, call: str) -> None:
    """After an eject, even one by the holder itself, only the returned claim counts (P2)."""
    push(backend, repository, topic, "a")
    [stale] = poll(backend, repository, topic)
    with backend.begin() as transaction:
        fresh = repository.eject(transaction, topic, stale)
    with backend.begin() as transaction, pytest.raises(LostTaskError):
        CALLS[call](repository, transaction, topic, stale)
    with backend.begin() as transaction:
        CALLS[call](repository, transaction, topic, fresh)


def test_process_restarted_under_the_same_name_fences_its_predecessor(
    backend: Backend, repository: TaskRepository[Any], topic: str, hire: Callable[[], Process]
) -> None:
    """Of two processes of one owner name only the later one completes (P2, CO-B2, OW-B1)."""
    ledger.create(backend)
    [task] = push(backend, repository, topic, "a")
    first, second = hire(), hire()
    first.start(backend.url, part("twin", roles.hold, topic=topic))
    assert first.expect() == task
    expire_and_reset(backend, topic, "twin")
    second.start(backend.url, part("twin", roles.hold, topic=topic))
    assert second.expect() == task
    first.tell("go on")
    assert first.result() == roles.LOST
    second.tell("go on")
    assert second.result() == roles.WON
    assert ledger.ends(backend) == {task.sequence: 1}


def test_either_the_completion_or_the_ejections_win(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Of a completion and concurrent ejections one side wins, and effects follow it (P2, CO-06)."""
    ledger.create(backend)
    push(backend, repository, topic, *map(str, range(ROUNDS)))
    tasks = poll(backend, repository, topic, ROUNDS)
    completed, *ejected = crowd.race(
        part("me", roles.complete, topic=topic, tasks=tasks),
        *(part(f"thief-{index}", roles.eject, topic=topic, tasks=tasks) for index in range(CROWD - 1)),
    )
    effects = ledger.ends(backend)
    for task, outcome, ejections in zip(tasks, completed, zip(*ejected, strict=True), strict=True):
        stored = info(backend, repository, topic, task)
        if outcome == roles.WON:
            assert set(ejections) == {roles.LOST}
            assert (stored.state, stored.owner, effects[task.sequence]) == (TaskState.SUCCEEDED, "me", 1)
        else:
            assert set(ejections) == {roles.WON}
            assert (stored.state, effects[task.sequence]) == (TaskState.ACTIVE, 0)
            assert stored.token == task.token + CROWD - 1


def test_one_claim_is_completed_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Of four completions with one and the same claim exactly one succeeds, with its effect (P2, CO-06)."""
    ledger.create(backend)
    push(backend, repository, topic, *map(str, range(ROUNDS)))
    tasks = poll(backend, repository, topic, ROUNDS)
    outcomes = crowd.race(*[part("me", roles.complete, topic=topic, tasks=tasks)] * CROWD)
    assert [each.count(roles.WON) for each in zip(*outcomes, strict=True)] == [1] * ROUNDS
    assert ledger.ends(backend) == {task.sequence: 1 for task in tasks}


def test_batch_named_in_opposite_order_is_completed_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Completions of the same claims in opposite order do not deadlock, one of them wins (P2, CO-07)."""
    ledger.create(backend)
    number = 200
    for _ in range(5):
        push(backend, repository, topic, *map(str, range(number)))
        tasks = poll(backend, repository, topic, number)
        outcomes = crowd.race(
            *(
                part("me", roles.complete_batch, topic=topic, tasks=tasks[:: -1 if index % 2 else 1])
                for index in range(CROWD)
            )
        )
        assert sorted(outcomes) == [roles.LOST] * (CROWD - 1) + [roles.WON]
        assert [ledger.ends(backend)[task.sequence] for task in tasks] == [1] * number


@pytest.mark.backends("postgresql", "oracle")
def test_claim_of_a_transaction_is_decided_in_that_transaction_only(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Elsewhere, and after its transaction has ended, such a claim is void, and nobody waits for it (P2)."""
    push(backend, repository, topic, "a")
    claiming, elsewhere = backend.open(), backend.open()
    task = repository.poll(claiming, topic, claim=Claim.TRANSACTION)
    assert task is not None
    for transaction in (elsewhere, claiming):
        hurry(transaction)
        with pytest.raises(LostTaskError):
            repository.complete(transaction, topic, task)
        backend.commit(claiming)
        backend.commit(elsewhere)
    assert info(backend, repository, topic, task).state == TaskState.READY


def test_either_the_completion_or_the_expiry_wins(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """A task completed while its lease ends is SUCCEEDED or EXPIRED, its effect alike (P2, OW-11)."""
    ledger.create(backend)
    push(backend, repository, topic, *map(str, range(ROUNDS)))
    tasks = poll(backend, repository, topic, ROUNDS)
    half = CROWD // 2
    *completed, _, _ = crowd.race(
        *[part("me", roles.complete, topic=topic, tasks=tasks)] * half,
        *(part(f"rescuer-{index}", roles.expire, tasks=tasks) for index in range(half)),
    )
    effects = ledger.ends(backend)
    for task, outcomes in zip(tasks, zip(*completed, strict=True), strict=True):
        state, effect = info(backend, repository, topic, task).state, effects[task.sequence]
        expected = (TaskState.SUCCEEDED, 1) if roles.WON in outcomes else (TaskState.EXPIRED, 0)
        assert (state, effect) == expected
