"""Claim.TRANSACTION: the transaction that polled holds the task, READY for all others, and decides it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from operator import attrgetter

import pytest

from task_api import (
    Claim,
    Condition,
    Insertion,
    LostTaskError,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
    TaskStateError,
)
from tests.backends import Backend, Transaction
from tests.backends.steps import info, poll, push, states
from tests.conformance.scenes import Repository, run
from tests.contention.plain_sql import execute

CLAIM = Claim.TRANSACTION


@contextmanager
def kept(backend: Backend, tx: Transaction, end: str = "RELEASE SAVEPOINT work") -> Iterator[None]:
    """Do what happens inside after a savepoint, and keep it."""
    execute(tx, "SAVEPOINT work")
    yield
    if backend.name != "oracle" or end.startswith("ROLLBACK"):  # a savepoint that stays needs no end there
        execute(tx, end)


def undone(backend: Backend, tx: Transaction) -> AbstractContextManager[None]:
    """Roll back what happens inside to a savepoint."""
    return kept(backend, tx, "ROLLBACK TO SAVEPOINT work")


def test_a_claimed_task_stays_ready(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing is written by the poll, so that the claim is worth half the writes (PO-03)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        claimed = repository.task(tx, topic, task.sequence)

    assert claimed is not None
    assert (claimed.state, claimed.owner, claimed.attempt) == (TaskState.READY, None, 0)


@pytest.mark.parametrize("result", TaskResult, ids=attrgetter("name"))
def test_it_is_decided_in_its_transaction(
    backend: Backend, repository: Repository, topic: str, result: TaskResult
) -> None:
    """Poll, work and decision commit together, as with any claim (CO-01, CO-13)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        repository.push(tx, topic, "effect")
        repository.complete(tx, topic, task, TaskDecision(result, "done"))
    decided = info(backend, repository, topic, task)

    assert (decided.state, decided.output, decided.owner) == (result.state, "done", "me")
    assert (decided.completed is not None, decided.polled is not None) == (True, True)
    assert decided.descent is TaskState.READY


def test_deciding_counts_as_an_attempt(backend: Backend, repository: Repository, topic: str) -> None:
    """Work sees the number of its own attempt, and that number is stored with the decision (DESIGN 5)."""
    push(backend, repository, topic, "a")
    seen = []
    for _ in range(3):
        with backend.begin() as tx:
            [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
            repository.complete(tx, topic, task, TaskDecision.retry(timedelta(0)))
            repository.promote(tx, topic)
        seen.append((task.attempt, info(backend, repository, topic, task).attempt))

    assert seen == [(1, 1), (2, 2), (3, 3)]


def test_a_commit_without_decision_leaves_it_ready(backend: Backend, repository: Repository, topic: str) -> None:
    """No attempt is counted and anybody can poll it (DESIGN 3)."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic, claim=CLAIM)
    left = info(backend, repository, topic, task)

    assert (left.state, left.attempt, left.owner) == (TaskState.READY, 0, None)
    assert poll(backend, backend.repository("other"), topic) == [task]


def test_a_rollback_undoes_poll_work_and_decision(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing of it has happened (PO-17)."""
    [task] = push(backend, repository, topic, "a")
    before = info(backend, repository, topic, task)
    tx = backend.open()
    [claimed] = repository.poll_many(tx, topic, 1, claim=CLAIM)
    repository.push(tx, topic, "effect")
    repository.complete(tx, topic, claimed)
    backend.rollback(tx)
    backend.close(tx)
    after = info(backend, repository, topic, task)

    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}
    assert (after.attempt, after.token, after.completed) == (before.attempt, before.token, None)


@pytest.mark.parametrize("claim", Claim, ids=attrgetter("name"))
@pytest.mark.parametrize("owner", ["me", "other"])
@pytest.mark.parametrize("decided", [False, True], ids=["undecided", "decided"])
def test_a_second_poll_brings_further_tasks(
    *, backend: Backend, repository: Repository, topic: str, claim: Claim, owner: str, decided: bool
) -> None:
    """Never those that the transaction holds already, whichever repository asks (DESIGN 5)."""
    tasks = push(backend, repository, topic, *"abcde")
    second = backend.repository(owner)
    with backend.begin() as tx:
        first = repository.poll_many(tx, topic, 2, claim=CLAIM)
        if decided:
            repository.complete_many(tx, topic, dict.fromkeys(first, TaskDecision.SUCCESS))
        further = [second.poll_many(tx, topic, size, claim=claim) for size in (1, 5, 5)]

    assert [first, *further] == [tasks[:2], tasks[2:3], tasks[3:], []]


def test_a_new_transaction_sees_them_again(backend: Backend, repository: Repository, topic: str) -> None:
    """What a transaction held is forgotten with it, on the same connection too (DESIGN 5)."""
    tasks = push(backend, repository, topic, *"abc")
    tx = backend.open()
    polled = []
    for end in (backend.commit, backend.rollback, backend.commit):
        polled.append(repository.poll_many(tx, topic, 10, claim=CLAIM))
        end(tx)

    assert polled == [tasks] * 3


CALLS: dict[str, Callable[[Transaction, Repository, str, Task], object]] = {
    "complete": lambda tx, repository, topic, task: repository.complete(tx, topic, task),
    "release": lambda tx, repository, topic, task: repository.release(tx, topic, [task]),
    "extend": lambda tx, repository, topic, task: repository.extend(tx, topic, [task], timedelta(1)),
    "checkpoint": lambda tx, repository, topic, task: repository.checkpoint(tx, topic, task, "new"),
}


@pytest.mark.parametrize("committed", [True, False], ids=["committed", "rolled back"])
@pytest.mark.parametrize("same", [True, False], ids=["same connection", "another connection"])
def test_a_claim_ends_with_its_transaction(
    *, backend: Backend, repository: Repository, topic: str, committed: bool, same: bool
) -> None:
    """A stale claim is lost, although the task is READY with the old token (DESIGN 5, CO-03)."""
    push(backend, repository, topic, "a", input="old")
    tx = backend.open()
    [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
    (backend.commit if committed else backend.rollback)(tx)
    later = tx if same else backend.open()
    for call in CALLS.values():
        with pytest.raises(LostTaskError) as lost:
            call(later, repository, topic, task)
        assert lost.value.tasks == {task}
    witness = repository.push(later, topic, "b")
    backend.commit(later)

    assert states(backend, repository, topic) == dict.fromkeys([task.sequence, witness.sequence], TaskState.READY)
    assert info(backend, repository, topic, task).input == "old"


@pytest.mark.parametrize("same", [True, False], ids=["same connection", "another connection"])
def test_claims_on_a_batch_end_with_their_transaction(
    *, backend: Backend, repository: Repository, topic: str, same: bool
) -> None:
    """Nor is a batch decided of which a later transaction has claimed a part (DESIGN 5, CO-03, CO-B3)."""
    push(backend, repository, topic, *"abcd")
    tx = backend.open()
    tasks = repository.poll_many(tx, topic, 4, claim=CLAIM)
    backend.rollback(tx)
    later = tx if same else backend.open()
    for claimed in (0, 2):
        again = repository.poll_many(later, topic, claimed, claim=CLAIM)
        for each in (TaskDecision.SUCCESS, TaskDecision.FAILURE):
            decisions = {**dict.fromkeys(tasks, TaskDecision.SUCCESS), tasks[-1]: each}
            with pytest.raises(LostTaskError) as lost:
                repository.complete_many(later, topic, decisions)
            assert lost.value.tasks == set(tasks[claimed:])
    repository.complete_many(later, topic, dict.fromkeys(again, TaskDecision.SUCCESS))
    backend.commit(later)

    ends = [TaskState.SUCCEEDED, TaskState.SUCCEEDED, TaskState.READY, TaskState.READY]
    assert list(states(backend, repository, topic).values()) == ends


@pytest.mark.backends("postgresql", "oracle")
def test_only_its_own_transaction_decides(backend: Backend, repository: Repository, topic: str) -> None:
    """While the claim is open the same repository cannot use it in another transaction (DESIGN 5)."""
    push(backend, repository, topic, "a")
    one, other = backend.open(), backend.open()
    [task] = repository.poll_many(one, topic, 1, claim=CLAIM)
    for call in CALLS.values():
        with pytest.raises(LostTaskError):
            call(other, repository, topic, task)
    repository.complete(one, topic, task)
    backend.commit(one)

    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_a_task_is_decided_once(backend: Backend, repository: Repository, topic: str) -> None:
    """A second decision in the same transaction is lost and changes nothing (CO-06)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        repository.complete(tx, topic, task)
        with pytest.raises(LostTaskError):
            repository.complete(tx, topic, task, TaskDecision.FAILURE)

    assert info(backend, repository, topic, task).state is TaskState.SUCCEEDED


def test_all_or_nothing_over_both_claims(backend: Backend, repository: Repository, topic: str) -> None:
    """Tasks of both claims are decided in one call, and not one of them if any is lost (CO-07, CO-B3)."""
    tasks = push(backend, repository, topic, *"abc")
    [committed] = poll(backend, repository, topic)
    with backend.begin() as tx:
        [own] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        decisions = dict.fromkeys([committed, own, tasks[2]], TaskDecision.SUCCESS)
        with pytest.raises(LostTaskError) as lost:
            repository.complete_many(tx, topic, decisions)
        between = states_in(tx, repository, topic)
        repository.complete_many(tx, topic, dict.fromkeys([committed, own], TaskDecision.SUCCESS))

    assert lost.value.tasks == {tasks[2]}
    assert between == [TaskState.ACTIVE, TaskState.READY, TaskState.READY]
    assert list(states(backend, repository, topic).values()) == [
        TaskState.SUCCEEDED,
        TaskState.SUCCEEDED,
        TaskState.READY,
    ]


def states_in(tx: Transaction, repository: Repository, topic: str) -> list[TaskState]:
    """Return the states as this transaction sees them, by sequence."""
    return [task.state for task in repository.page(tx, topic)]


def test_work_can_be_undone_and_the_failure_kept(backend: Backend, repository: Repository, topic: str) -> None:
    """A rollback to a savepoint after the poll undoes effects and spares the claim (DESIGN 5)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        with undone(backend, tx):
            repository.push(tx, topic, "effect")
        repository.complete(tx, topic, task, TaskDecision.failure("no"))

    assert states(backend, repository, topic) == {task.sequence: TaskState.FAILED}


def test_a_decision_undone_to_a_savepoint_can_be_taken_again(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """The claim outlives a decision that was rolled back to a savepoint (DESIGN 5)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        with undone(backend, tx):
            repository.complete(tx, topic, task)
        repository.complete(tx, topic, task, TaskDecision.failure("no"))
    decided = info(backend, repository, topic, task)

    assert (decided.state, decided.attempt) == (TaskState.FAILED, 1)


def test_a_claim_undone_to_a_savepoint_is_gone(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll after the savepoint is rolled back with it: lost, and free to be polled again (DESIGN 5)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        with undone(backend, tx):
            [stale] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        with pytest.raises(LostTaskError):
            repository.complete(tx, topic, stale)
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        repository.complete(tx, topic, task)

    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED}


def test_a_savepoint_that_stays_keeps_its_claims(backend: Backend, repository: Repository, topic: str) -> None:
    """Claims of a nested transaction belong to the whole one; its own end is not theirs (DESIGN 5)."""
    with backend.begin() as tx:
        tasks = repository.push_many(tx, topic, ["a", "b"])
        with kept(backend, tx):
            [inner] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        with kept(backend, tx):
            [outer] = repository.poll_many(tx, topic, 1, claim=CLAIM)
            repository.complete(tx, topic, inner)
        repository.complete(tx, topic, outer)

    assert [inner, outer] == tasks
    assert set(states(backend, repository, topic).values()) == {TaskState.SUCCEEDED}


def test_a_checkpoint_is_kept_with_or_without_a_decision(backend: Backend, repository: Repository, topic: str) -> None:
    """It writes the input and spares the claim (DESIGN 3)."""
    push(backend, repository, topic, *"ab")
    with backend.begin() as tx:
        tasks = repository.poll_many(tx, topic, 2, claim=CLAIM)
        for task in tasks:
            repository.checkpoint(tx, topic, task, "half")
        further = repository.poll_many(tx, topic, 2)
        repository.complete(tx, topic, tasks[0])
    stored = [info(backend, repository, topic, task) for task in tasks]

    assert further == []
    assert [(it.state, it.input, it.attempt) for it in stored] == [
        (TaskState.SUCCEEDED, "half", 1),
        (TaskState.READY, "half", 0),
    ]


def test_a_release_counts_no_attempt(backend: Backend, repository: Repository, topic: str) -> None:
    """It is READY, as it was (DESIGN 3)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        repository.release(tx, topic, [task])
    stored = info(backend, repository, topic, task)

    assert (stored.state, stored.attempt) == (TaskState.READY, 0)


def test_a_task_made_redundant_by_its_own_transaction_is_lost(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It is READY until decided, so that a REPLACE of its identifier takes it away (IN-01)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        new = repository.push(tx, topic, "a", insertion=Insertion.REPLACE)
        with pytest.raises(LostTaskError):
            repository.complete(tx, topic, task)

    assert states(backend, repository, topic) == {
        task.sequence: TaskState.REDUNDANT,
        new.sequence: TaskState.READY,
    }


def test_it_cannot_be_ejected(backend: Backend, repository: Repository, topic: str) -> None:
    """It is not ACTIVE, and its transaction's end frees it anyway (DESIGN 3)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
        with pytest.raises(TaskStateError) as refused:
            repository.eject(tx, topic, task)

    assert refused.value.tasks == {task}


def test_heartbeats_and_leases_do_not_matter(backend: Backend, repository: Repository, topic: str) -> None:
    """There is nothing to expire: the row lock is the claim (DESIGN 5)."""
    push(backend, repository, topic, "a")
    other = backend.repository("other")
    backend.age_owner("me", 3600)
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=CLAIM, lease=timedelta(0))
        expired = other.expire(tx, timedelta(0))
        repository.complete(tx, topic, task)

    assert (expired, info(backend, repository, topic, task).state) == (0, TaskState.SUCCEEDED)


@pytest.mark.backends("postgresql", "oracle")
def test_a_lost_connection_frees_it_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Nobody has to wait for a heartbeat to run out (DESIGN 5)."""
    push(backend, repository, topic, "a")
    tx = backend.open()
    [task] = repository.poll_many(tx, topic, 1, claim=CLAIM)
    other = backend.repository("other")
    while_open = poll(backend, other, topic)
    backend.close(tx)

    assert (while_open, run(backend, other.poll, topic)) == ([], task)


@pytest.mark.parametrize("first", Claim, ids=attrgetter("name"))
@pytest.mark.parametrize("second", Claim, ids=attrgetter("name"))
def test_tokens_rise_over_both_claims(
    backend: Backend, repository: Repository, topic: str, first: Claim, second: Claim
) -> None:
    """The holder before is fenced off, whichever way each of the two held the task (CO-B2)."""
    push(backend, repository, topic, "a")
    with backend.begin() as tx:
        [stale] = repository.poll_many(tx, topic, 1, claim=first)
        repository.complete(tx, topic, stale, TaskDecision.retry(timedelta(0)))
        repository.promote(tx, topic)
    with backend.begin() as tx:
        [task] = repository.poll_many(tx, topic, 1, claim=second)
        with pytest.raises(LostTaskError):
            repository.complete(tx, topic, stale)
        repository.complete(tx, topic, task)

    assert stale.token < task.token
    assert info(backend, repository, topic, task).token == task.token


@pytest.mark.parametrize("number", [1, 2])
def test_claims_belong_to_their_owner(backend: Backend, repository: Repository, topic: str, number: int) -> None:
    """Another owner cannot decide them, in the same transaction either (CO-05)."""
    push(backend, repository, topic, *"abc")
    other = backend.repository("other")
    with backend.begin() as tx:
        tasks = repository.poll_many(tx, topic, number, claim=CLAIM)
        more = other.poll_many(tx, topic, 1, claim=CLAIM)
        for given in (tasks, tasks + more):
            with pytest.raises(LostTaskError) as lost:
                other.complete_many(tx, topic, dict.fromkeys(given, TaskDecision.SUCCESS))
            assert lost.value.tasks == set(tasks)
        repository.complete_many(tx, topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))

    assert {info(backend, repository, topic, task).owner for task in tasks} == {"me"}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER], ids=attrgetter("name"))
def test_thousands_in_one_transaction(
    backend: Backend, repository: Repository, topic: str, condition: Condition
) -> None:
    """Polls and decisions take time by the number of their tasks, not by its square (DESIGN 5)."""
    tasks = push(backend, repository, topic, *map(str, range(10_000)))
    with backend.begin() as tx:
        polled = [repository.poll_many(tx, topic, 5000, condition=condition, claim=CLAIM) for _ in range(3)]
        repository.complete_many(tx, topic, dict.fromkeys(polled[0] + polled[1], TaskDecision.SUCCESS))

    assert polled == [tasks[:5000], tasks[5000:], []]
    assert backend.sql("SELECT count(*) FROM task WHERE state = 6") == [(10_000,)]
