"""What members do to tasks that wait for others. Module level functions, so that another process can import them."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import oracledb

from task_api import (
    Dependency,
    DependencyCycleError,
    OnAbort,
    Revivification,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskState,
    TaskStateError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from task_api import Task, TaskResult
    from tests.contention.member import Member

T = TypeVar("T")


def finish_and_take(member: Member, *, topic: str, then: str, tasks: Sequence[Task]) -> list[int]:
    """Complete one task after the other, together with the others, and complete what that released."""
    taken: list[int] = []
    for task in tasks:
        member.meet()
        with member.begin() as transaction:
            member.repository.complete(transaction, topic, task)
        with member.begin() as transaction:
            released = member.repository.poll_many(transaction, then, 10)
            member.repository.complete_many(transaction, then, dict.fromkeys(released, TaskDecision.SUCCESS))
        taken += [task.sequence for task in released]
    return taken


def finish_together(member: Member, *, topic: str, tasks: Sequence[Task], result: TaskResult) -> None:
    """Complete many tasks in one call, at the same time as the others."""
    member.meet()
    with member.begin() as transaction:
        member.repository.complete_many(transaction, topic, dict.fromkeys(tasks, TaskDecision(result)))


def finish_each(member: Member, *, topic: str, tasks: Sequence[Task]) -> None:
    """Complete one task after the other, together with the others."""
    for task in tasks:
        member.meet()
        with member.begin() as transaction:
            member.repository.complete(transaction, topic, task)


def depend_each(member: Member, *, topic: str, tasks: Sequence[Task], others: Sequence[Task]) -> None:
    """Let one task after the other wait for another one, together with the others."""
    for task, other in zip(tasks, others, strict=True):
        member.meet()
        with member.begin() as transaction:
            link = Dependency(TaskRef(topic, task.sequence), TaskRef(topic, other.sequence))
            member.repository.depend(transaction, [link])


def push_each(member: Member, *, topic: str, others: Sequence[Sequence[TaskRef]]) -> list[Task]:
    """Push one task after the other, each of which waits for others."""
    pushed = []
    for after in others:
        member.meet()
        with member.begin() as transaction:
            pushed.append(member.repository.push(transaction, topic, TaskCreation("new", after=tuple(after))))
    return pushed


def recreate_each(member: Member, *, topic: str, tasks: Sequence[Task]) -> list[Task]:
    """Recreate one SUSPENDED task after the other, or find that it does not wait any more."""
    copies: list[Task] = []
    for task in tasks:
        member.meet()
        with suppress(TaskStateError), member.begin() as transaction:
            copies += member.repository.recreate(transaction, topic, Revivification.APPEND, [task]).values()
    return copies


def close_cycles(member: Member, *, pairs: Sequence[tuple[TaskRef, TaskRef]]) -> list[bool]:
    """Add one half of each cycle, at the same time as another adds the other; tell which were accepted."""
    accepted = []
    for run, after in pairs:
        member.meet()
        try:
            with member.begin() as transaction:
                member.repository.depend(transaction, [Dependency(run, after)])
        except DependencyCycleError:
            accepted.append(False)
        else:
            accepted.append(True)
    return accepted


def work(member: Member, *, topics: Sequence[str], fates: Mapping[str, TaskResult]) -> dict[str, int]:
    """Decide tasks as it is their fate until nothing is left to do; return those done, with how many failed before."""
    done: dict[str, int] = {}
    member.meet()
    left = True
    while left:
        found = False
        for topic in topics:
            with member.begin() as transaction:
                tasks = member.repository.poll_many(transaction, topic, 3)
            if tasks:
                found = True
                decisions = {task: TaskDecision(fates[task.identifier]) for task in tasks}
                _again_if_chosen(member, partial(member.repository.complete_many, topic=topic, decisions=decisions))
                done |= {task.identifier: task.failed for task in tasks}
        if not found:
            with member.begin() as transaction:
                counts = member.repository.count(transaction)
            busy = {TaskState.READY, TaskState.ACTIVE}
            left = any(busy & counts.get(topic, {}).keys() for topic in topics)
    return done


def push_graph(
    member: Member, *, topics: Sequence[str], after: Sequence[Sequence[int]], choices: Sequence[OnAbort]
) -> None:
    """Push a graph, task by task, while others work on it: each is named by its place."""
    refs: list[TaskRef] = []
    member.meet()
    for place, (others, on_abort) in enumerate(zip(after, choices, strict=True)):
        topic = topics[place % len(topics)]
        creation = TaskCreation(str(place), after=tuple(refs[other] for other in others), on_abort=on_abort)
        task = _again_if_chosen(member, partial(member.repository.push, topic=topic, creation=creation))
        refs.append(TaskRef(topic, task.sequence))


def _again_if_chosen(member: Member, call: Callable[[Any], T]) -> T:
    """Do something in a transaction, again if Oracle chose it to end a deadlock, as its documentation says."""
    while True:
        try:
            with member.begin() as transaction:
                return call(transaction)
        except oracledb.DatabaseError as error:
            if "ORA-00060" not in str(error):
                raise
