"""What members do in races and crashes. Module level functions, so that another process can import them."""

from __future__ import annotations

import random
import time
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NoReturn

import task_sql
from task_api import (
    Claim,
    Condition,
    Counting,
    Insertion,
    Junction,
    LostTaskError,
    Order,
    Revivification,
    Snapshot,
    Task,
    TaskCreation,
    TaskDecision,
    TaskState,
    TaskStateError,
)
from tests.contention import ledger
from tests.contention.member import TIMEOUT
from tests.contention.plain_sql import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.backends import Transaction
    from tests.contention.member import Member

WON, LOST = "won", "lost"
STALE = timedelta(minutes=30)


class GiveUpError(Exception):
    """Raised by a role to roll its transaction back."""


# One task, several who want it ------------------------------------------------------------------------------


def complete(member: Member, *, topic: str, tasks: Sequence[Task]) -> list[str]:
    """Complete one task after the other, each with an effect in the same transaction."""

    def attempt(transaction: Transaction, task: Task) -> bool:
        ledger.note(transaction, ledger.END, [task])
        member.repository.complete(transaction, topic, task)
        return True

    return _contest(member, tasks, attempt)


def complete_batch(member: Member, *, topic: str, tasks: Sequence[Task]) -> str:
    """Complete all tasks in one call, in their order, with their effects."""
    member.meet()
    try:
        with member.begin() as transaction:
            member.repository.complete_many(transaction, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            ledger.note(transaction, ledger.END, tasks)
    except LostTaskError as error:
        assert error.tasks == set(tasks)  # noqa: PT017 - in another process there is no pytest
        return LOST
    return WON


def eject(member: Member, *, topic: str, tasks: Sequence[Task]) -> list[str]:
    """Take over one task after the other."""

    def attempt(transaction: Transaction, task: Task) -> bool:
        ejected = member.repository.eject(transaction, topic, task)
        assert ejected.token > task.token
        return True

    return _contest(member, tasks, attempt)


def expire(member: Member, *, tasks: Sequence[Task]) -> list[str]:
    """End the lease of one task after the other and expire it."""

    def prepare(task: Task) -> None:
        with member.begin() as transaction:
            execute(
                transaction,
                "UPDATE task SET lease = created WHERE sequence = :sequence",
                sequence=task.sequence,
            )

    def attempt(transaction: Transaction, _task: Task) -> bool:
        return member.repository.expire(transaction, STALE) > 0

    return _contest(member, tasks, attempt, prepare)


def _contest(
    member: Member,
    tasks: Sequence[Task],
    attempt: Callable[[Transaction, Task], bool],
    prepare: Callable[[Task], None] = lambda _: None,
) -> list[str]:
    outcomes = []
    for task in tasks:
        prepare(task)
        member.meet()
        try:
            with member.begin() as transaction:
                won = attempt(transaction, task)
        except (LostTaskError, TaskStateError) as error:
            assert error.tasks == {task}  # noqa: PT017 - in another process there is no pytest
            won = False
        outcomes.append(WON if won else LOST)
    return outcomes


# Many tasks, several who work them off ----------------------------------------------------------------------


def drain(
    member: Member,
    *,
    topic: str,
    size: int,
    order: Order = Order.FIRST_IN_FIRST_OUT,
    condition: Condition = Condition.NONE,
    claim: Claim = Claim.COMMITTED,
) -> list[list[int]]:
    """Poll and complete until nothing is left, and give the sequences of each batch."""
    batches: list[list[int]] = []
    member.meet()
    while True:
        tasks = _work(member, topic, size, order=order, condition=condition, claim=claim)
        if tasks:
            batches.append([task.sequence for task in tasks])
        if not tasks and not _unfinished(member, topic):
            return batches


def drain_slowly(member: Member, *, topic: str) -> None:
    """Poll and complete a few tasks at a time, and tell when some are done."""
    fifo, none = Order.FIRST_IN_FIRST_OUT, Condition.NONE
    member.say("ready")
    member.hear()
    for claim in [Claim.COMMITTED, Claim.TRANSACTION] * 1000:
        _work(member, topic, 2, order=fifo, condition=none, claim=claim)
        member.say("some are done")


def juggle(
    member: Member,
    *,
    topic: str,
    identifiers: Sequence[str],
    pushes: int,
    order: Order,
    claim: Claim,
    condition: Condition = Condition.SINGULAR_BY_IDENTIFIER,
    failing: bool = False,
    seed: int = 0,
) -> int:
    """Push and work by turns, so that pushes commit late and early, then work off what is left."""
    choice = random.Random(seed)  # noqa: S311 - no secret
    work = partial(_work, member, topic, order=order, condition=condition, claim=claim, failing=failing)
    done = 0
    member.meet()
    for _ in range(pushes):
        with member.begin() as transaction:
            member.repository.push_many(transaction, topic, choice.sample(identifiers, 3))
            for _ in range(choice.randrange(4)):  # what an application does before it commits
                execute(transaction, "SELECT topic FROM task_topic")
        done += len(work(size=choice.choice([1, 2, 4, 200])))
    if failing:  # what stands behind a failure stays, so there is no end to wait for
        return done
    while True:
        tasks = work(size=5)
        done += len(tasks)
        if not tasks and not _unfinished(member, topic):
            return done


def roam(member: Member, *, topic: str, batches: int, seed: int) -> int:
    """
    Push, poll, give up, release and complete by turns, without conditions, until everything is done.

    Whoever overlooks a task never gets to the end, hence the deadline.
    """
    choice = random.Random(seed)  # noqa: S311 - no secret
    deadline = time.monotonic() + TIMEOUT / 2
    done = 0
    member.meet()
    for turn in count():
        try:
            with member.begin() as transaction:
                if turn < batches:
                    member.repository.push_many(transaction, topic, map(str, range(50)))
                tasks = member.repository.poll_many(transaction, topic, choice.choice([1, 40, 120]))
                if choice.random() < 1 / 4:
                    _give_up()
        except GiveUpError:
            batches += turn < batches  # not pushed after all
            continue
        if tasks:
            unlucky = {task for task in tasks if choice.random() < 1 / 4}
            with member.begin() as transaction:
                member.repository.release(transaction, topic, unlucky)
                lucky = [task for task in tasks if task not in unlucky]
                member.repository.complete_many(transaction, topic, dict.fromkeys(lucky, TaskDecision.SUCCESS))
            done += len(lucky)
        elif not _unfinished(member, topic):
            return done
        assert time.monotonic() < deadline, "some tasks are never polled"
    raise AssertionError


def _work(
    member: Member,
    topic: str,
    size: int,
    *,
    order: Order,
    condition: Condition,
    claim: Claim,
    failing: bool = False,
) -> list[Task]:
    with member.begin() as transaction:
        tasks = member.repository.poll_many(transaction, topic, size, order=order, condition=condition, claim=claim)
        ledger.note(transaction, ledger.BEGIN, tasks)
        if claim is Claim.TRANSACTION:
            _decide(member, transaction, topic, tasks, failing=failing)
    if claim is Claim.COMMITTED and tasks:
        with member.begin() as transaction:
            _decide(member, transaction, topic, tasks, failing=failing)
    return tasks


def _decide(
    member: Member,
    transaction: Transaction,
    topic: str,
    tasks: Sequence[Task],
    *,
    failing: bool,
) -> None:
    decisions = {
        task: TaskDecision.FAILURE if failing and task.sequence % 7 == 0 else TaskDecision.SUCCESS for task in tasks
    }
    member.repository.complete_many(transaction, topic, decisions)
    for task, decision in decisions.items():
        ledger.note(transaction, ledger.FAIL if decision is TaskDecision.FAILURE else ledger.END, [task])


def _unfinished(member: Member, topic: str) -> bool:
    """Whether tasks of the topic are READY or ACTIVE."""
    with member.begin() as transaction:
        found = member.repository.count(transaction, Snapshot.TOTAL, Counting(topic=topic))[topic]
    return bool({TaskState.READY, TaskState.ACTIVE} & found.keys())


# Pushing ----------------------------------------------------------------------------------------------------


def push_often(
    member: Member, *, topic: str, identifiers: Sequence[str], insertions: Sequence[Insertion], seed: int = 0
) -> int:
    """Push all identifiers, shuffled, once with each insertion; give the last sequence."""
    shuffled = list(identifiers)
    last = 0
    for index, insertion in enumerate(insertions):
        random.Random(seed + index).shuffle(shuffled)  # noqa: S311 - no secret
        member.meet()
        with member.begin() as transaction:
            last = max(
                task.sequence for task in member.repository.push_many(transaction, topic, shuffled, insertion=insertion)
            )
    return last


def push_singly(member: Member, *, topic: str, rounds: Sequence[Sequence[str]]) -> None:
    """Push each round's identifiers with REPLACE, one call each, all in one transaction."""
    for identifiers in rounds:
        member.meet()
        with member.begin() as transaction:
            for identifier in identifiers:
                member.repository.push(transaction, topic, identifier, insertion=Insertion.REPLACE)


def revive_often(member: Member, *, topic: str, revivification: Revivification, times: int) -> None:
    """Fail what is ready and revive what has failed, again and again."""
    for _ in range(times):
        member.meet()
        with member.begin() as transaction:
            tasks = member.repository.poll_many(transaction, topic, 5)
            member.repository.complete_many(transaction, topic, dict.fromkeys(tasks, TaskDecision.FAILURE))
        with member.begin() as transaction:
            member.repository.recreate_state(transaction, topic, revivification, TaskState.FAILED, size=5)


def poll_and_give_up(member: Member, *, topic: str, times: int) -> None:
    """Poll and roll back, again and again."""
    for _ in range(times):
        member.meet()
        try:
            with member.begin() as transaction:
                member.repository.poll_many(transaction, topic, 10)
                _give_up()
        except GiveUpError:
            pass


def _give_up() -> NoReturn:
    raise GiveUpError


def arrive(
    member: Member, *, topic: str, groups: Sequence[Sequence[str]], index: int, junction: Junction
) -> list[set[str]]:
    """Of each group push one member suspended and join it, in one transaction; give what was released."""
    released = []
    for group in groups:
        member.meet()
        with member.begin() as transaction:
            member.repository.push(transaction, topic, TaskCreation(group[index], suspended=True))
            released.append(member.repository.junction(transaction, topic, [group], junction=junction))
    return released


def suspend(member: Member, *, topic: str, groups: Sequence[Sequence[str]], tasks: Sequence[Task]) -> list[set[str]]:
    """Of each group complete one member as suspended and join it; give what was released."""
    released = []
    for group, task in zip(groups, tasks, strict=True):
        member.meet()
        with member.begin() as transaction:
            member.repository.complete(transaction, topic, task, TaskDecision.SUSPENSION)
            released.append(member.repository.junction(transaction, topic, [group]))
    return released


# Topics and owners ------------------------------------------------------------------------------------------


def initialize(member: Member, *, topics: Sequence[str]) -> list[bool]:
    """Initialise one topic after the other and push to it at once."""
    created = []
    for topic in topics:
        member.meet()
        with member.begin() as transaction:
            created.append(member.repository.initialize(transaction, topic))
            member.repository.push(transaction, topic, "first")
    return created


def register(member: Member, *, url: str, owners: Sequence[str]) -> list[bool]:
    """Register one owner after the other."""
    new = []
    engine = task_sql.create_engine(url)
    for owner in owners:
        repository = task_sql.create_repository(engine, owner=owner)
        member.meet()
        with member.begin() as transaction:
            new.append(repository.register(transaction))
    engine.dispose()
    return new


# One who is killed, or stopped ------------------------------------------------------------------------------


def hang(member: Member, *, topic: str, stage: str, size: int) -> None:
    """Go as far as the stage, tell the test, and wait to be killed there."""
    repository = member.repository
    if stage in {"claimed", "completing"}:
        with member.begin() as transaction:
            tasks = repository.poll_many(transaction, topic, size)
    with member.begin() as transaction:
        if stage == "pushing":
            repository.push_many(transaction, topic, [f"lost-{index}" for index in range(size)])
        elif stage == "replacing":
            repository.push(transaction, topic, "a", insertion=Insertion.REPLACE)
        elif stage == "polling":
            repository.poll_many(transaction, topic, size)
        elif stage == "holding":
            tasks = repository.poll_many(transaction, topic, size, claim=Claim.TRANSACTION)
            repository.complete_many(transaction, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            ledger.note(transaction, ledger.END, tasks)
        elif stage == "completing":
            repository.complete_many(transaction, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            ledger.note(transaction, ledger.END, tasks)
        if stage != "claimed":
            member.say(stage)
            member.hear()
    member.say(stage)
    member.hear()


def hold(member: Member, *, topic: str) -> str:
    """Poll one task, commit, and complete it when the test says so, with an effect; give the outcome."""
    with member.begin() as transaction:
        task = member.repository.poll(transaction, topic)
    assert task is not None
    member.say(task)
    member.hear()
    try:
        with member.begin() as transaction:
            ledger.note(transaction, ledger.END, [task])
            member.repository.complete(transaction, topic, task)
    except LostTaskError:
        return LOST
    return WON


# Sweeping over many tasks -----------------------------------------------------------------------------------


def sweep_expire(member: Member, *, topic: str) -> list[int]:  # noqa: ARG001 - as the others
    """Expire until there is nothing more; give how many each time."""
    return _sweep(member, lambda tx: member.repository.expire(tx, STALE))


def sweep_purge(member: Member, *, topic: str) -> list[int]:
    """Purge until there is nothing more; give how many each time."""
    return _sweep(member, lambda tx: member.repository.purge(tx, topic))


def sweep_promote(member: Member, *, topic: str) -> list[int]:
    """Promote until there is nothing more; give how many each time."""
    return _sweep(member, lambda tx: member.repository.promote(tx, topic))


def sweep_revive(member: Member, *, topic: str) -> list[int]:
    """Recreate suspended tasks, a few at a time, until there are no more; give how many each time."""
    append, state = Revivification.APPEND, TaskState.SUSPENDED
    return _sweep(member, lambda tx: len(member.repository.recreate_state(tx, topic, append, state, size=9)))


def _sweep(member: Member, call: Callable[[Transaction], int]) -> list[int]:
    counts = []
    member.meet()
    while True:
        with member.begin() as transaction:
            counts.append(call(transaction))
        if not counts[-1]:
            return counts
