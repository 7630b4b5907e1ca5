"""Mistakes that are made and caught in the middle of work that others do at the same time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from task_api import LostTaskError, Revivification, TaskDecision, TaskState, TaskStateError, UnknownTopicError
from tests.backends.steps import poll, push, states
from tests.contention import ledger
from tests.contention.member import CROWD, part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from task_api import Task, TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.member import Member
    from tests.contention.processes import Processes
    from tests.contention.threads import Threads

ROUNDS = 15

pytestmark = pytest.mark.kinds("driver")


def blunder(member: Member, *, topic: str, own: Sequence[Task], foreign: Sequence[Task]) -> int:
    """Complete one's own tasks one by one, each amid mistakes that are caught; count those."""
    caught = 0
    for task, other in zip(own, foreign, strict=True):
        member.meet()
        with member.begin() as transaction:
            ledger.note(transaction, ledger.END, [task])
            caught += len(_caught(member.repository, transaction, topic, task, other))
            member.repository.complete(transaction, topic, task)
    return caught


def _caught(
    repository: TaskRepository[Any], transaction: Transaction, topic: str, task: Task, other: Task
) -> list[Exception]:
    """Decide what others hold, push to nowhere, and revive what is still worked on."""
    both = dict.fromkeys((task, other), TaskDecision.FAILURE)
    errors: list[Exception] = []
    for error, mistake in (
        (LostTaskError, partial(repository.complete_many, transaction, topic, both)),
        (UnknownTopicError, partial(repository.push_many, transaction, "nowhere", ["a"])),
        (TaskStateError, partial(repository.recreate, transaction, topic, Revivification.RESET, both)),
    ):
        try:
            mistake()
        except error as mended:
            errors.append(mended)
    return errors


def test_mistakes_of_several_at_once_change_nothing(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Caught errors leave each transaction usable, its work complete and the others' tasks alone (P7, P2, CO-07)."""
    ledger.create(backend)
    push(backend, repository, topic, *map(str, range(CROWD * ROUNDS)))
    owners = [f"owner-{index}" for index in range(CROWD)]
    held = [poll(backend, backend.repository(owner), topic, ROUNDS) for owner in owners]
    caught = crowd.race(
        *(
            part(owner, blunder, topic=topic, own=held[index], foreign=held[(index + 1) % CROWD])
            for index, owner in enumerate(owners)
        )
    )

    assert caught == [3 * ROUNDS] * CROWD
    assert ledger.ends(backend) == {task.sequence: 1 for tasks in held for task in tasks}
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}
