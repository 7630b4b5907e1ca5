"""Polling under conditions, and promise 4, singular means singular: section 3 of the behaviours."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product
from operator import attrgetter

import pytest

from task_api import (
    MAX_SEQUENCE,
    Claim,
    Condition,
    Insertion,
    LostTaskError,
    Order,
    Revivification,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.backends import Backend, Transaction
from tests.backends.steps import complete, drive, info, poll, push
from tests.conformance.scenes import TIMEOUT, Repository, await_lock, one_of_each, run

FIRST, LAST = Order.FIRST_IN_FIRST_OUT, Order.LAST_IN_FIRST_OUT
SINGULAR = Condition.SINGULAR_BY_IDENTIFIER
ON_FAILURE = Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
UNTIL_SUCCESS = Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
NAME = attrgetter("name")
CONDITIONS = [SINGULAR, ON_FAILURE, UNTIL_SUCCESS]
ORDERS = pytest.mark.parametrize("order", Order, ids=NAME)
CLAIMS = pytest.mark.parametrize("claim", Claim, ids=NAME)
ALL_SINGULAR = pytest.mark.parametrize("condition", CONDITIONS, ids=NAME)

ALWAYS_BLOCKING: dict[Condition, set[TaskState]] = {
    Condition.NONE: set(),
    SINGULAR: {TaskState.ACTIVE},
    ON_FAILURE: {TaskState.ACTIVE, TaskState.EXPIRED, TaskState.FAILED},
    UNTIL_SUCCESS: {TaskState.ACTIVE, TaskState.EXPIRED, TaskState.FAILED, TaskState.SUSPENDED},
}
"""The states of a sibling, older or newer, that block; a READY one blocks if it comes first."""


def siblings(backend: Backend, repository: Repository, topic: str) -> None:
    """Leave one task in each state, named after it, and no others."""
    tasks = one_of_each(backend, repository, topic).values()
    left = {task.sequence for task in run(backend, repository.page, topic)} - {task.sequence for task in tasks}
    for sequence in left:
        run(backend, repository.purge, topic, states=[TaskState.READY], first=sequence, last=sequence)


@pytest.mark.kinds("driver", "plain")
@CLAIMS
@pytest.mark.parametrize("condition", Condition, ids=NAME)
@ORDERS
@pytest.mark.parametrize("older", [True, False], ids=["older sibling", "newer sibling"])
def test_which_siblings_block(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    older: bool,
    order: Order,
    condition: Condition,
    claim: Claim,
) -> None:
    """
    Each condition blocks by the sibling's state, on purpose also by a newer one's.

    PO-08, PO-09, PO-11, PO-12, PO-13, PO-B2, PO-B3, PO-B5, ST-05.
    """
    if older:
        siblings(backend, repository, topic)
    # Suspended until all siblings are where they belong, so that no poll takes the candidates before.
    candidates = push(backend, repository, topic, *(state.name for state in TaskState), due=timedelta(0))
    if not older:
        siblings(backend, repository, topic)
    run(backend, repository.promote, topic)
    polled = poll(backend, repository, topic, 100, order=order, condition=condition, claim=claim)

    blocking = set(ALWAYS_BLOCKING[condition])
    if condition is not Condition.NONE and older is (order is FIRST):
        blocking.add(TaskState.READY)
    assert {TaskState[task.identifier] for task in candidates if task not in polled} == blocking


@ORDERS
@CLAIMS
def test_a_batch_has_one_task_for_each_identifier(
    backend: Backend, repository: Repository, topic: str, order: Order, claim: Claim
) -> None:
    """It is the oldest or the newest one, and others do not starve behind it (PO-08, PO-09, PO-10)."""
    tasks = push(backend, repository, topic, *"aaaaabac")
    expected = [tasks[0], tasks[5], tasks[7]] if order is FIRST else [tasks[7], tasks[6], tasks[5]]
    tx = backend.open()
    for condition in CONDITIONS:
        polled = [
            repository.poll_many(tx, topic, size, order=order, condition=condition, claim=claim) for size in (2, 2, 2)
        ]
        backend.rollback(tx)
        assert (condition, polled) == (condition, [expected[:2], expected[2:], []])


@pytest.mark.kinds("driver", "plain")
@ORDERS
@ALL_SINGULAR
def test_the_next_comes_when_the_one_before_succeeded(
    backend: Backend, repository: Repository, topic: str, order: Order, condition: Condition
) -> None:
    """Completion frees the identifier; before that nothing more of it comes (PO-10)."""
    tasks = push(backend, repository, topic, *"aaa")
    polled = []
    while batch := poll(backend, repository, topic, 10, order=order, condition=condition):
        assert poll(backend, repository, topic, 10, order=order, condition=condition) == []
        complete(backend, repository, topic, batch)
        polled += batch

    assert polled == (tasks if order is FIRST else tasks[::-1])


LIFTS: dict[str, Callable[[Transaction, Repository, str, Task], object]] = {
    "reset": lambda tx, repository, topic, task: repository.recreate(tx, topic, Revivification.RESET, [task]),
    "recreate": lambda tx, repository, topic, task: repository.recreate(tx, topic, Revivification.APPEND, [task]),
    "reassign": lambda tx, repository, topic, task: repository.reassign(tx, topic, {task: TaskResult.SUCCESS}),
    "purge": lambda tx, repository, topic, task: repository.purge(tx, topic, last=task.sequence),
    "replace": lambda tx, repository, topic, task: repository.push(
        tx, topic, task.identifier, insertion=Insertion.REPLACE
    ),
}


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("lift", LIFTS.values(), ids=LIFTS)
@pytest.mark.parametrize("condition", [ON_FAILURE, UNTIL_SUCCESS], ids=NAME)
def test_a_failure_blocks_until_it_changes_itself(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    condition: Condition,
    lift: Callable[[Transaction, Repository, str, Task], object],
) -> None:
    """A later success does not lift the block; only the failed task's own change does (PO-14)."""
    failed, succeeded = push(backend, repository, topic, *"aa")
    drive(backend, repository, topic, failed, TaskState.FAILED)
    drive(backend, repository, topic, succeeded, TaskState.SUCCEEDED)
    push(backend, repository, topic, "a")
    blocked = poll(backend, repository, topic, condition=condition)
    run(backend, lift, repository, topic, failed)
    lifted = poll(backend, repository, topic, condition=condition)

    assert (blocked, [task.identifier for task in lifted]) == ([], ["a"])


@ORDERS
@CLAIMS
def test_a_condition_belongs_to_the_call(
    backend: Backend, repository: Repository, topic: str, order: Order, claim: Claim
) -> None:
    """A poll with NONE takes what another poll would leave alone (PO-15)."""
    push(backend, repository, topic, *"aaa")
    with backend.begin() as tx:
        polled = [
            len(repository.poll_many(tx, topic, 10, order=order, condition=condition, claim=claim))
            for condition in (SINGULAR, SINGULAR, Condition.NONE)
        ]

    assert polled == [1, 0, 2]


@pytest.mark.kinds("driver", "plain")
@ORDERS
@ALL_SINGULAR
def test_other_topics_do_not_block(
    backend: Backend, repository: Repository, topic: str, order: Order, condition: Condition
) -> None:
    """Siblings are tasks of the same topic, whatever their state (PO-B1)."""
    run(backend, repository.initialize, "other")
    one_of_each(backend, repository, "other")
    candidates = push(backend, repository, topic, *(state.name for state in TaskState))

    assert sorted(poll(backend, repository, topic, 100, order=order, condition=condition)) == candidates


@pytest.mark.kinds("driver", "plain")
@ORDERS
@ALL_SINGULAR
def test_other_identifiers_do_not_block(
    backend: Backend, repository: Repository, topic: str, order: Order, condition: Condition
) -> None:
    """Identifiers are compared exactly (PO-08)."""
    for state in (TaskState.FAILED, TaskState.ACTIVE):
        [task] = push(backend, repository, topic, "a")
        drive(backend, repository, topic, task, state)
    candidates = push(backend, repository, topic, "A", "a ", "aa", "%")

    assert sorted(poll(backend, repository, topic, 10, order=order, condition=condition)) == candidates


def test_an_expired_sibling_does_not_block_and_its_holder_is_fenced_off(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """EXPIRED lets plain SINGULAR pass, because its old holder can decide nothing (PO-B8, CO-03)."""
    push(backend, repository, topic, *"aa")
    silent = backend.repository("silent")
    [stale] = poll(backend, silent, topic, condition=SINGULAR)
    backend.age_owner("silent", 60)
    run(backend, repository.expire, timedelta(seconds=30))
    [task] = poll(backend, repository, topic, condition=SINGULAR)

    with pytest.raises(LostTaskError):
        complete(backend, silent, topic, stale)
    assert info(backend, repository, topic, task).state is TaskState.ACTIVE


@pytest.mark.kinds("driver", "plain")
@CLAIMS
def test_a_long_queue_of_one_identifier_starves_nobody(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Blocked tasks do not use up the size of a batch (PO-05, PO-10)."""
    [first, *_] = push(backend, repository, topic, *["a"] * 3000)
    others = push(backend, repository, topic, *map(str, range(20)))
    with backend.begin() as tx:
        polled = [repository.poll_many(tx, topic, 10, condition=SINGULAR, claim=claim) for _ in range(3)]

    assert polled == [[first, *others[:9]], others[9:19], others[19:]]


# With several consumers at once --------------------------------------------------------------------------


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    """A thread for the one that has to wait."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


GATE = """
CREATE FUNCTION public.pg_try_advisory_xact_lock(key bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(4242);
    RETURN pg_catalog.pg_try_advisory_xact_lock(key);
END
$$
"""
TWO_CLAIMS = pytest.mark.parametrize(("one_claim", "other_claim"), list(product(Claim, Claim)), ids=NAME)


@pytest.mark.backends("postgresql", "oracle")
@TWO_CLAIMS
@ORDERS
def test_an_open_poll_blocks_its_identifier(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    order: Order,
    one_claim: Claim,
    other_claim: Claim,
) -> None:
    """Elsewhere a SINGULAR poll neither waits nor takes a sibling (PO-16, PO-21)."""
    push(backend, repository, topic, *"abab")
    other = backend.repository("other")
    one, two = backend.open(), backend.open()
    for condition in CONDITIONS:
        first = repository.poll_many(one, topic, 1, order=order, condition=condition, claim=one_claim)
        second = other.poll_many(two, topic, 10, order=order, condition=condition, claim=other_claim)
        backend.rollback(one)
        backend.rollback(two)
        assert sorted(task.identifier for task in first + second) == ["a", "b"]


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
@TWO_CLAIMS
@ALL_SINGULAR
def test_a_late_commit_cannot_make_two_active(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    condition: Condition,
    one_claim: Claim,
    other_claim: Claim,
) -> None:
    """A lower sequence that commits while a newer sibling is claimed waits for it (PO-B3, PO-B4)."""
    late, one = backend.open(), backend.open()
    low = repository.push(late, topic, "a")
    [high] = push(backend, repository, topic, "a")
    other = backend.repository("other")
    claimed = repository.poll_many(one, topic, 1, condition=condition, claim=one_claim)
    backend.commit(late)
    polled = [poll(backend, other, topic, condition=condition, claim=other_claim)]
    repository.complete(one, topic, claimed[0])
    polled.append(poll(backend, other, topic, condition=condition, claim=other_claim))
    backend.commit(one)
    polled.append(poll(backend, other, topic, condition=condition, claim=other_claim))

    assert (claimed, polled) == ([high], [[], [], [low]])


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
@TWO_CLAIMS
@ALL_SINGULAR
def test_a_new_push_under_lifo_cannot_make_two_active(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    condition: Condition,
    one_claim: Claim,
    other_claim: Claim,
) -> None:
    """A higher sequence pushed while an older sibling is claimed waits for it (PO-B2, PO-B4)."""
    [low] = push(backend, repository, topic, "a")
    one = backend.open()
    claimed = repository.poll_many(one, topic, 1, order=LAST, condition=condition, claim=one_claim)
    [high] = push(backend, repository, topic, "a")
    other = backend.repository("other")
    polled = [poll(backend, other, topic, order=LAST, condition=condition, claim=other_claim)]
    repository.complete(one, topic, claimed[0])
    backend.commit(one)
    polled.append(poll(backend, other, topic, order=LAST, condition=condition, claim=other_claim))

    assert (claimed, polled) == ([low], [[], [high]])


@pytest.mark.backends("postgresql", "oracle")
@TWO_CLAIMS
def test_an_open_poll_hides_no_other_identifier(
    *, backend: Backend, repository: Repository, topic: str, one_claim: Claim, other_claim: Claim
) -> None:
    """Of hundreds of identifiers exactly the claimed one is left out (PO-05, PO-21)."""
    tasks = push(backend, repository, topic, *map(str, range(300)))
    push(backend, repository, topic, *map(str, range(300)))
    one, two = backend.open(), backend.open()
    claimed = repository.poll_many(one, topic, 1, condition=SINGULAR, claim=one_claim)
    other = backend.repository("other")
    polled = [other.poll_many(two, topic, size, condition=SINGULAR, claim=other_claim) for size in (5, 400)]

    assert [claimed, *polled] == [tasks[:1], tasks[1:6], tasks[6:]]


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver", "plain")
@CLAIMS
def test_candidates_are_judged_after_they_are_locked(
    backend: Backend, repository: Repository, topic: str, claim: Claim, aside: ThreadPoolExecutor
) -> None:
    """What was committed between a poll's look and its lock counts (PO-B4)."""
    late, one, two, gate = (backend.open() for _ in range(4))
    repository.push(late, topic, "a")
    [high] = push(backend, repository, topic, "a")
    claimed = repository.poll_many(one, topic, 1, condition=SINGULAR)
    backend.commit(late)
    # The second poll looks, then waits at the gate before it asks for its lock, until the first is committed.
    backend.sql(GATE)
    gate.execute("SELECT pg_advisory_xact_lock(4242)")
    two.execute("SET search_path = public, pg_catalog")
    other = backend.repository("other")
    polled = aside.submit(other.poll_many, two, topic, 1, condition=SINGULAR, claim=claim)
    await_lock(backend, polled)
    backend.commit(one)
    backend.commit(gate)

    assert (claimed, polled.result(TIMEOUT)) == ([high], [])


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
@ORDERS
def test_as_many_as_there_can_be(backend: Backend, repository: Repository, topic: str, order: Order) -> None:
    """A size beyond all reason brings what there is, also where somebody has locked a task (PO-05)."""
    tasks = push(backend, repository, topic, *map(str, range(700)))
    locking = backend.open()
    [locked] = repository.poll_many(locking, topic, 1, order=order, claim=Claim.TRANSACTION)
    found = poll(backend, repository, topic, MAX_SEQUENCE, order=order, condition=SINGULAR)

    assert sorted(found) == [task for task in tasks if task != locked]


@pytest.mark.backends("postgresql", "oracle")
@CLAIMS
def test_a_poll_rolled_back_frees_its_identifier(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Nothing is left of a claim that was never committed (PO-17, PO-21)."""
    tasks = push(backend, repository, topic, *"aa")
    one = backend.open()
    repository.poll(one, topic, condition=SINGULAR, claim=claim)
    backend.rollback(one)

    assert poll(backend, backend.repository("other"), topic, 10, condition=SINGULAR) == tasks[:1]


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("statistics", ["fresh", "analysed while empty"])
@ALL_SINGULAR
def test_thousands_of_identifiers_can_be_claimed_at_once(
    backend: Backend, repository: Repository, topic: str, condition: Condition, statistics: str
) -> None:
    """A SINGULAR poll needs no lock for each identifier, and no luck with the planner (PO-10, PO-B4)."""
    if statistics != "fresh":
        backend.sql({"postgresql": "ANALYZE", "oracle": "ANALYZE TABLE task COMPUTE STATISTICS"}[backend.name])
    identifiers = list(map(str, range(backend.many(20_000))))
    tasks = push(backend, repository, topic, *identifiers)
    push(backend, repository, topic, *identifiers)
    polled = poll(backend, repository, topic, 30_000, condition=condition)

    assert [task.sequence for task in polled] == [task.sequence for task in tasks]


def test_an_active_sibling_blocks_however_it_was_claimed(backend: Backend, repository: Repository, topic: str) -> None:
    """An ACTIVE sibling blocks however it was claimed (PO-08, PO-15)."""
    push(backend, repository, topic, *"aa")
    [first] = poll(backend, repository, topic)
    blocked = poll(backend, repository, topic, condition=SINGULAR)
    complete(backend, repository, topic, first, TaskDecision.FILTER)

    assert (blocked, len(poll(backend, repository, topic, condition=UNTIL_SUCCESS))) == ([], 1)
