"""The caller owns the transaction: errors that can be foreseen leave it whole and change nothing (P7)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskError,
    TaskResult,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)
from tests.backends.steps import complete, poll, push
from tests.contention.member import TIMEOUT
from tests.contention.plain_sql import execute

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.threads import Actor

    Call = Callable[[TaskRepository[Any], Any, str, list[Task]], object]

driver = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")

MISTAKES: dict[str, tuple[type[TaskError], Call]] = {
    "push to an unknown topic": (UnknownTopicError, lambda r, tx, _, __: r.push(tx, "nowhere", "a")),
    "strict poll of an unknown topic": (
        UnknownTopicError,
        lambda r, tx, _, __: r.poll(tx, "nowhere", strict=True),
    ),
    "poll by an unknown owner": (UnknownOwnerError, lambda r, tx, topic, _: r.poll(tx, topic)),
    "heartbeat of an unknown owner": (UnknownOwnerError, lambda r, tx, _, __: r.heartbeat(tx)),
    "completion of what is not held": (
        LostTaskError,
        lambda r, tx, topic, tasks: r.complete(tx, topic, tasks[0]),
    ),
    "release of what is not held": (LostTaskError, lambda r, tx, topic, tasks: r.release(tx, topic, tasks)),
    "eject of a ready task": (TaskStateError, lambda r, tx, topic, tasks: r.eject(tx, topic, tasks[0])),
    "revival of a ready task": (
        TaskStateError,
        lambda r, tx, topic, tasks: r.recreate(tx, topic, Revivification.RESET, tasks),
    ),
    "reassignment of a ready task": (
        TaskStateError,
        lambda r, tx, topic, tasks: r.reassign(tx, topic, dict.fromkeys(tasks, TaskResult.SUCCESS)),
    ),
    "over-long topic": (InvalidTaskError, lambda r, tx, _, __: r.push(tx, "t" * 251, "a")),
    "over-long identifier": (InvalidTaskError, lambda r, tx, topic, _: r.push(tx, topic, "i" * 501)),
    "negative size": (InvalidTaskError, lambda r, tx, topic, _: r.poll_many(tx, topic, -1)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_transaction_goes_on_after_a_mistake(
    backend: Backend, repository: TaskRepository[Any], topic: str, mistake: str
) -> None:
    """What the caller wrote before and after a caught error commits (P7, IN-B6, IN-B7)."""
    backend.sql("CREATE TABLE own (value integer)")
    tasks = push(backend, repository, topic, "a")
    error, call = MISTAKES[mistake]
    culprit = backend.repository("stranger", register=False) if error is UnknownOwnerError else repository
    with backend.begin() as transaction:
        execute(transaction, "INSERT INTO own VALUES (1)")
        with pytest.raises(error):
            call(culprit, transaction, topic, tasks)
        execute(transaction, "INSERT INTO own VALUES (2)")
        repository.push(transaction, topic, "b")
    assert backend.sql("SELECT value FROM own ORDER BY value") == [(1,), (2,)]
    assert [task.identifier for task in poll(backend, repository, topic, 9)] == ["a", "b"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_commits_nothing(backend: Backend, repository: TaskRepository[Any], topic: str, mistake: str) -> None:
    """What the caller wrote before an error rolls back with the transaction (P7)."""
    backend.sql("CREATE TABLE own (value integer)")
    tasks = push(backend, repository, topic, "a")
    error, call = MISTAKES[mistake]
    culprit = backend.repository("stranger", register=False) if error is UnknownOwnerError else repository
    transaction = backend.open()
    execute(transaction, "INSERT INTO own VALUES (1)")
    with pytest.raises(error):
        call(culprit, transaction, topic, tasks)
    backend.rollback(transaction)
    assert backend.sql("SELECT value FROM own") == []


# All or nothing, with somebody else in between --------------------------------------------------------------

HOLDERS_CALLS: dict[str, Call] = {
    "complete_many": lambda r, tx, topic, tasks: r.complete_many(
        tx, topic, dict.fromkeys(tasks, TaskDecision.success("done"))
    ),
    "release": lambda r, tx, topic, tasks: r.release(tx, topic, tasks),
    "extend": lambda r, tx, topic, tasks: r.extend(tx, topic, tasks, timedelta(days=1)),
}
OPERATORS_CALLS: dict[str, Call] = {
    "recreate": lambda r, tx, topic, tasks: r.recreate(tx, topic, Revivification.APPEND, tasks),
    "reset": lambda r, tx, topic, tasks: r.recreate(tx, topic, Revivification.RESET, tasks),
    "reassign": lambda r, tx, topic, tasks: r.reassign(tx, topic, dict.fromkeys(tasks, TaskResult.SUCCESS)),
}


def _expire(repository: TaskRepository[Any], transaction: Transaction, topic: str, task: Task) -> None:
    """Expire this one of the other owner's tasks."""
    execute(
        transaction,
        "UPDATE task SET lease = created WHERE topic = :topic AND sequence = :sequence",
        topic=topic,
        sequence=task.sequence,
    )
    assert repository.expire(transaction, timedelta(days=1)) == 1


def _eject(repository: TaskRepository[Any], transaction: Transaction, topic: str, task: Task) -> None:
    """Take this one over."""
    repository.eject(transaction, topic, task)


def _reset(repository: TaskRepository[Any], transaction: Transaction, topic: str, task: Task) -> None:
    """Make this one READY, so that it can be neither revived nor reassigned."""
    repository.recreate(transaction, topic, Revivification.RESET, [task])


def rows(backend: Backend) -> list[tuple[Any, ...]]:
    """Everything that is stored about every task."""
    return backend.sql("SELECT * FROM task ORDER BY sequence")


@driver
@pytest.mark.parametrize("interfere", [_expire, _eject])
@pytest.mark.parametrize("call", HOLDERS_CALLS)
def test_holders_call_changes_nothing_when_one_task_is_lost(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    call: str,
    interfere: Callable[..., None],
) -> None:
    """When one task was expired or ejected the call names it and changes nothing (P7, CO-07)."""
    push(backend, repository, topic, "a", "b", "c")
    tasks = poll(backend, repository, topic, 3)
    other = backend.repository("other")
    with backend.begin() as transaction:
        interfere(other, transaction, topic, tasks[1])
    before = rows(backend)
    with backend.begin() as transaction:
        with pytest.raises(LostTaskError) as raised:
            HOLDERS_CALLS[call](repository, transaction, topic, tasks)
        assert raised.value.tasks == {tasks[1]}
    assert rows(backend) == before


@driver
@pytest.mark.parametrize("call", OPERATORS_CALLS)
@pytest.mark.parametrize("changed", [0, 2])
def test_operators_call_changes_nothing_when_one_task_has_changed(
    backend: Backend, repository: TaskRepository[Any], topic: str, call: str, changed: int
) -> None:
    """When one task was reset the call names it and changes nothing (P7, RE-03, RA-01)."""
    tasks = _failed(backend, repository, topic)
    with backend.begin() as transaction:
        _reset(repository, transaction, topic, tasks[changed])
    before = rows(backend)
    with backend.begin() as transaction:
        with pytest.raises(TaskStateError) as raised:
            OPERATORS_CALLS[call](repository, transaction, topic, tasks)
        assert raised.value.tasks == {tasks[changed]}
    assert rows(backend) == before


@driver
@servers
@pytest.mark.parametrize("interfere", [_expire, _eject])
@pytest.mark.parametrize("call", HOLDERS_CALLS)
def test_holders_call_that_overlaps_an_interference_changes_nothing(
    backend: Backend,
    topic: str,
    actor: Callable[[str], Actor],
    call: str,
    interfere: Callable[..., None],
) -> None:
    """The expiry or ejection is open when the call begins and commits before it ends (P2, P7, CO-07)."""
    holder, other = actor("me"), actor("other")
    push(backend, holder.repository, topic, "a", "b", "c")
    tasks = poll(backend, holder.repository, topic, 3)
    other.run(lambda r, tx: interfere(r, tx, topic, tasks[1]))
    attempt = holder.start(lambda r, tx: HOLDERS_CALLS[call](r, tx, topic, tasks))
    holder.waits(attempt)
    other.commit()
    after_interference = rows(backend)
    with pytest.raises(LostTaskError) as raised:
        attempt.result(TIMEOUT)
    holder.commit()
    assert raised.value.tasks == {tasks[1]}
    assert rows(backend) == after_interference


@driver
@servers
@pytest.mark.parametrize("call", OPERATORS_CALLS)
def test_operators_call_that_overlaps_a_reset_changes_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, actor: Callable[[str], Actor], call: str
) -> None:
    """A reset is open when the call begins and commits before it ends (P7, RE-03, RA-01)."""
    tasks = _failed(backend, repository, topic)
    operator, other = actor("me"), actor("other")
    other.run(lambda r, tx: _reset(r, tx, topic, tasks[1]))
    attempt = operator.start(lambda r, tx: OPERATORS_CALLS[call](r, tx, topic, tasks))
    operator.waits(attempt)
    other.commit()
    after_reset = rows(backend)
    with pytest.raises(TaskStateError) as raised:
        attempt.result(TIMEOUT)
    operator.commit()
    assert raised.value.tasks == {tasks[1]}
    assert rows(backend) == after_reset


@driver
@servers
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_eject_that_overlaps_a_completion_follows_its_end(
    backend: Backend, repository: TaskRepository[Any], topic: str, actor: Callable[[str], Actor], end: str
) -> None:
    """An eject waits for an open completion: refused if that commits, successful if it rolls back (P2)."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic)
    holder, other = actor("me"), actor("other")
    holder.run(lambda r, tx: r.complete(tx, topic, task))
    ejecting = other.start(lambda r, tx: r.eject(tx, topic, task))
    other.waits(ejecting)
    getattr(holder, end)()
    if end == "commit":
        with pytest.raises(TaskStateError):
            ejecting.result(TIMEOUT)
    else:
        assert ejecting.result(TIMEOUT).token == task.token + 1
    other.commit()


@driver
@servers
def test_overlapping_batches_in_opposite_order_do_not_deadlock(
    backend: Backend, repository: TaskRepository[Any], topic: str, actor: Callable[[str], Actor]
) -> None:
    """Two that revive the same tasks, named in opposite order: one does, the other is refused (P7, RE-03)."""
    for number in range(10):
        tasks = _failed(backend, repository, topic)
        actors = actor(f"left-{number}"), actor(f"right-{number}")
        attempts = [
            each.start(lambda r, tx, named=named: _reset_and_commit(r, tx, topic, named))  # type: ignore[misc]
            for each, named in zip(actors, (tasks, tasks[::-1]), strict=True)
        ]
        errors = [type(attempt.exception(TIMEOUT)) for attempt in attempts]
        assert sorted(error.__name__ for error in errors) == ["NoneType", "TaskStateError"]
        complete(backend, repository, topic, poll(backend, repository, topic, 30))


def _reset_and_commit(repository: TaskRepository[Any], transaction: Transaction, topic: str, tasks: list[Task]) -> None:
    repository.recreate(transaction, topic, Revivification.RESET, tasks)
    transaction.commit()


def _failed(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    push(backend, repository, topic, "a", "b", "c")
    tasks = poll(backend, repository, topic, 3)
    complete(backend, repository, topic, tasks, TaskDecision.FAILURE)
    return tasks


@pytest.mark.parametrize("state", [TaskState.READY, TaskState.SUCCEEDED])
def test_initialized_topic_is_rolled_back_with_the_transaction(
    backend: Backend, repository: TaskRepository[Any], topic: str, state: TaskState
) -> None:
    """The library never commits, not even a new topic and what was done in it (P7, TO-01)."""
    transaction = backend.open()
    assert repository.initialize(transaction, "new")
    repository.push(transaction, "new", "a")
    if state is TaskState.SUCCEEDED:
        [task] = repository.poll_many(transaction, "new", 1)
        repository.complete(transaction, "new", task)
    backend.rollback(transaction)
    backend.close(transaction)
    with backend.begin() as again:
        assert repository.topics(again) == {topic}
        assert repository.initialize(again, "new")
        assert repository.poll(again, "new") is None
