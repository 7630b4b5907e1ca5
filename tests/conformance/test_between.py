"""Tasks by a range of identifiers: polled in the order of those, and listed."""

import asyncio
from collections.abc import Callable
from dataclasses import astuple
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from task_api import (
    Claim,
    Insertion,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    TaskDecision,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
)
from task_sql import AsyncTaskRepository, create_repository
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push
from tests.conformance.scenes import Repository, one_of_each, run

CLAIMS = pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)


@CLAIMS
def test_the_lowest_identifier_comes_first(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Whatever the order in which the tasks were pushed (S3-06, S3-B1)."""
    push(backend, repository, topic, "c", "a", "d", "b")
    with backend.begin() as tx:
        found = [repository.poll_between(tx, topic, None, None, claim=claim) for _ in range(5)]

    assert [task and task.identifier for task in found] == ["a", "b", "c", "d", None]
    assert {task.claim for task in found if task} == {claim}


@CLAIMS
def test_siblings_come_by_sequence(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Of tasks of one identifier the older is polled first (P3)."""
    first, _, third = push(backend, repository, topic, "a", "b", "a")
    with backend.begin() as tx:
        found = [repository.poll_between(tx, topic, "a", "b", claim=claim) for _ in range(3)]

    assert found == [first, third, None]


@pytest.mark.kinds("driver")
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((None, None), "abcde"),
        (("b", None), "bcde"),
        ((None, "d"), "abc"),
        (("b", "d"), "bc"),
        (("aa", "cc"), "bc"),
        (("c", "c"), ""),
        (("d", "b"), ""),
        (("e\x01", None), ""),
        (("\x01", "a"), ""),
    ],
)
def test_the_low_bound_belongs_to_the_range_the_high_one_does_not(
    backend: Backend, repository: Repository, topic: str, bounds: tuple[str | None, str | None], expected: str
) -> None:
    """Either may be missing (S3-06)."""
    push(backend, repository, topic, *"edcba")
    listed = run(backend, repository.between, topic, *bounds)
    polled = [run(backend, repository.poll_between, topic, *bounds) for _ in expected + " "]

    assert "".join(task.identifier for task in listed) == expected
    assert [task and task.identifier for task in polled] == [*expected, None]


def test_identifiers_are_compared_by_code_points(backend: Backend, repository: Repository, topic: str) -> None:
    """Not by a language's rules, nor by UTF-16: the highest character of all is above the rest, and in range."""
    names = ["\x01", "A", "Z", "_", "a", "z", "ä", "\ufffd", "\U0001f600", "\U0010ffff" * 500]
    push(backend, repository, topic, *reversed(names))

    assert [task.identifier for task in run(backend, repository.between, topic, None, None)] == names
    polled = [run(backend, repository.poll_between, topic, None, None) for _ in names]
    assert [task and task.identifier for task in polled] == names
    assert [task.identifier for task in run(backend, repository.between, topic, "a", "\ufffd")] == ["a", "z", "ä"]


def test_a_committed_claim_is_as_any_poll_makes_it(backend: Backend, repository: Repository, topic: str) -> None:
    """Owner, attempt, token, time and lease are set, and a stale holder loses it (P2, S3-05, S3-B2)."""
    push(backend, repository, topic, "a", input="text")
    with backend.begin() as tx:
        task = repository.poll_between(tx, topic, "a", "b", lease=timedelta(minutes=1))
    assert task is not None
    held = info(backend, repository, topic, task)

    assert (task.identifier, task.input, task.attempt, task.token) == ("a", "text", 1, 1)
    assert (held.state, held.owner, held.attempt, held.token) == (TaskState.ACTIVE, "me", 1, 1)
    assert held.polled is not None
    assert held.lease == held.polled + timedelta(minutes=1)
    other = backend.repository("other")
    with backend.begin() as tx:
        other.eject(tx, topic, task)
    with pytest.raises(LostTaskError):
        complete(backend, repository, topic, task)


def test_a_lease_of_old_is_cleared(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll without one leaves none."""
    push(backend, repository, topic, "a")
    task = run(backend, repository.poll_between, topic, None, None, lease=timedelta(minutes=1))
    assert task is not None
    run(backend, repository.release, topic, [task])
    again = run(backend, repository.poll_between, topic, None, None)
    assert again is not None
    assert info(backend, repository, topic, again).lease is None
    assert (again.attempt, again.token) == (1, 2)


def test_only_ready_tasks_are_polled(backend: Backend, repository: Repository, topic: str) -> None:
    """What is done is not run again by accident (S3-13, S3-B3)."""
    one_of_each(backend, repository, topic, [state for state in TaskState if state is not TaskState.READY])
    run(backend, repository.purge, topic, states=[TaskState.READY])  # what RECREATED and REDUNDANT ones gave way to

    assert run(backend, repository.poll_between, topic, None, None) is None


def test_all_states_are_listed(backend: Backend, repository: Repository, topic: str) -> None:
    """Open, held and finished tasks, by identifier and then by sequence (S3-17)."""
    tasks = one_of_each(backend, repository, topic)
    listed = run(backend, repository.between, topic, None, None)

    assert [(item.identifier, item.sequence) for item in listed] == sorted(
        (item.identifier, item.sequence) for item in listed
    )
    found = {item.sequence: item for item in listed}
    assert {state: found[task.sequence].state for state, task in tasks.items()} == {state: state for state in tasks}
    assert len(listed) == len(TaskState) + 2
    assert [astuple(item) for item in listed] == [astuple(info(backend, repository, topic, item)) for item in listed]


def test_other_topics_are_left_alone(backend: Backend, repository: Repository, topic: str) -> None:
    """Also where all topics share an index."""
    run(backend, repository.initialize, "other")
    push(backend, repository, "other", "a", "c")
    push(backend, repository, topic, "b")

    assert [task.identifier for task in run(backend, repository.between, topic, None, None)] == ["b"]
    found = [run(backend, repository.poll_between, topic, None, None) for _ in range(2)]
    assert [task and task.identifier for task in found] == ["b", None]


def test_an_unknown_topic_is_empty(backend: Backend, repository: Repository) -> None:
    """As for any poll or list."""
    assert run(backend, repository.poll_between, "unknown", None, None) is None
    assert run(backend, repository.between, "unknown", None, None) == []
    assert run(backend, repository.between, "unknown", None, None, lock=True) == []


@CLAIMS
def test_an_owner_must_be_registered(backend: Backend, topic: str, repository: Repository, claim: Claim) -> None:
    """As for any poll; the transaction stays usable (P7)."""
    push(backend, repository, topic, "a")
    stranger = backend.repository("stranger", register=False)
    with backend.begin() as tx:
        with pytest.raises(UnknownOwnerError, match="stranger"):
            stranger.poll_between(tx, topic, None, None, claim=claim)
        stranger.register(tx)
        assert stranger.poll_between(tx, topic, None, None, claim=claim) is not None


BAD: list[Callable[[Repository, Any], object]] = [
    lambda repository, tx: repository.poll_between(tx, "", None, None),
    lambda repository, tx: repository.poll_between(tx, "topic", "", None),
    lambda repository, tx: repository.poll_between(tx, "topic", None, "x" * 501),
    lambda repository, tx: repository.poll_between(tx, "topic", 1, None),  # type: ignore[arg-type]
    lambda repository, tx: repository.poll_between(tx, "topic", None, "a\0"),
    lambda repository, tx: repository.poll_between(tx, "topic", None, None, lease=timedelta(-1)),
    lambda repository, tx: repository.poll_between(tx, "topic", None, None, claim="x"),  # type: ignore[arg-type]
    lambda repository, tx: repository.between(tx, "", None, None),
    lambda repository, tx: repository.between(tx, "topic", "\ud800", None),
    lambda repository, tx: repository.between(tx, "topic", None, b"a"),  # type: ignore[arg-type]
]


@pytest.mark.kinds("driver")
def test_wrong_arguments_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """Before any statement runs, so that the transaction stays usable (P7)."""
    with backend.begin() as tx:
        for call in BAD:
            with pytest.raises(InvalidTaskError):
                call(repository, tx)
        assert repository.topics(tx) == {topic}


def test_values_are_never_part_of_a_statement(backend: Backend, repository: Repository, topic: str) -> None:
    """A bound is a parameter, whatever it says (S3-B5)."""
    nasty = "'; DROP TABLE task; --"
    push(backend, repository, topic, nasty, "a")

    assert [task.identifier for task in run(backend, repository.between, topic, nasty, "a")] == [nasty]
    polled = run(backend, repository.poll_between, topic, nasty, f"{nasty}\x01")
    assert polled is not None
    assert polled.identifier == nasty


def test_a_task_claimed_for_a_transaction_is_ready_for_others(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Nothing is written until it is decided, and a rollback leaves no trace (S3-07, S3-12)."""
    push(backend, repository, topic, "a")
    tx = backend.open()
    task = repository.poll_between(tx, topic, None, None, claim=Claim.TRANSACTION)
    assert task is not None
    assert (task.attempt, task.token) == (1, 1)
    [listed] = repository.between(tx, topic, None, None)
    assert (listed.state, listed.owner, listed.attempt) == (TaskState.READY, None, 0)
    backend.rollback(tx)
    with pytest.raises(LostTaskError):
        repository.complete(tx, topic, task)
    backend.close(tx)

    again = run(backend, repository.poll_between, topic, None, None)
    assert again is not None
    assert (again.attempt, again.token) == (1, 1)


def test_a_task_claimed_for_a_transaction_is_decided_in_it(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Poll, work and decision commit together (S3-08)."""
    push(backend, repository, topic, "b", "a")
    with backend.begin() as tx:
        task = repository.poll_between(tx, topic, None, None, claim=Claim.TRANSACTION)
        assert task is not None
        repository.complete(tx, topic, task, TaskDecision.success("done"))
    decided = info(backend, repository, topic, task)

    assert (decided.identifier, decided.state, decided.output) == ("a", TaskState.SUCCEEDED, "done")
    assert (decided.owner, decided.attempt, decided.token) == ("me", 1, 1)


@pytest.mark.kinds("driver", "session")
@pytest.mark.parametrize(
    ("first", "second"), [(first, second) for first in Claim for second in Claim], ids=lambda claim: claim.name
)
def test_one_transaction_claims_different_tasks(
    backend: Backend, repository: Repository, topic: str, first: Claim, second: Claim
) -> None:
    """Polls of all kinds respect what the transaction has claimed for itself (S3-05)."""
    push(backend, repository, topic, *"abcd")
    with backend.begin() as tx:
        found = [
            repository.poll_between(tx, topic, None, None, claim=first),
            repository.poll(tx, topic, claim=second),
            repository.poll_between(tx, topic, None, None, claim=second),
            repository.poll(tx, topic, claim=first),
            repository.poll_between(tx, topic, None, None, claim=first),
        ]
    assert [task and task.identifier for task in found] == ["a", "b", "c", "d", None]


@pytest.mark.backends("postgresql", "oracle")
@CLAIMS
def test_what_others_hold_is_passed_over(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """An uncommitted claim of either kind is never waited for (S3-06, S3-07)."""
    push(backend, repository, topic, "b", "a")
    others, other = backend.repository("other"), backend.open()
    held = others.poll_between(other, topic, None, None, claim=claim)
    found = [run(backend, repository.poll_between, topic, None, None) for _ in range(2)]
    backend.close(other)

    assert held is not None
    assert [held.identifier, *(task and task.identifier for task in found)] == ["a", "b", None]
    assert run(backend, repository.poll_between, topic, None, None) == held


def test_what_comes_back_is_found(backend: Backend, repository: Repository, topic: str) -> None:
    """By a release, a promotion or a revival, also below what was polled last; plain polls find it as well."""
    push(backend, repository, topic, *"abc")
    a, b, c = (run(backend, repository.poll_between, topic, None, None) for _ in "abc")
    assert a is not None
    assert b is not None
    assert c is not None
    run(backend, repository.release, topic, [a])
    assert run(backend, repository.poll_between, topic, None, None) == a
    complete(backend, repository, topic, b, TaskDecision.retry(timedelta()))
    run(backend, repository.promote, topic)
    assert run(backend, repository.poll_between, topic, None, None) == b
    complete(backend, repository, topic, c)
    run(backend, repository.recreate, topic, Revivification.RESET, [c])
    assert poll(backend, repository, topic) == [c]


def test_a_plain_poll_finds_what_this_one_left(backend: Backend, repository: Repository, topic: str) -> None:
    """The two kinds of poll take from the same tasks, in their own orders."""
    push(backend, repository, topic, *"edcba")
    found = [
        run(backend, repository.poll, topic) if index % 2 else run(backend, repository.poll_between, topic, None, None)
        for index in range(5)
    ]
    assert [task and task.identifier for task in found] == ["a", "e", "b", "d", "c"]


@pytest.mark.parametrize("lock", [False, True], ids=["plain", "lock"])
def test_a_list_leaves_tasks_as_they_are(backend: Backend, repository: Repository, topic: str, *, lock: bool) -> None:
    """Locked or not, they can be polled afterwards (S3-14)."""
    push(backend, repository, topic, "b", "a", insertion=Insertion.UNIQUE)
    listed = run(backend, repository.between, topic, "a", "c", lock=lock)

    assert [(task.identifier, task.state) for task in listed] == [("a", TaskState.READY), ("b", TaskState.READY)]
    assert len(poll(backend, repository, topic, 5)) == 2


@pytest.mark.backends("postgresql", "oracle")
def test_locked_tasks_can_not_be_claimed(backend: Backend, repository: Repository, topic: str) -> None:
    """Until the transaction ends; those out of range can (S3-14)."""
    push(backend, repository, topic, *"abc")
    tx = backend.open()
    repository.between(tx, topic, "a", "c", lock=True)
    others = backend.repository("other")
    found = [run(backend, others.poll_between, topic, None, None) for _ in range(2)]
    backend.rollback(tx)
    backend.close(tx)

    assert [task and task.identifier for task in found] == ["c", None]
    assert run(backend, others.poll_between, topic, None, None) is not None


@pytest.mark.backends("postgresql", "oracle")
@CLAIMS
def test_a_lock_is_refused_at_once_where_somebody_holds_a_task(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """One task that another transaction has claimed is named, nothing is waited for (S3-14)."""
    push(backend, repository, topic, *"abc")
    others, other = backend.repository("other"), backend.open()
    held = others.poll_between(other, topic, "b", None, claim=claim)
    with backend.begin() as tx:
        with pytest.raises(TaskStateError, match="'b'") as caught:
            repository.between(tx, topic, None, None, lock=True)
        assert [task.identifier for task in repository.between(tx, topic, None, None)] == ["a", "b", "c"]
        assert len(repository.between(tx, topic, "c", None, lock=True)) == 1
    backend.close(other)

    assert caught.value.tasks == {held}
    assert len(run(backend, repository.between, topic, None, None, lock=True)) == 3


@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.kinds("driver")
def test_both_can_be_awaited(backend: Backend, repository: Repository, topic: str) -> None:
    """The async repository has the same calls."""
    push(backend, repository, topic, "b", "a", "c")
    url = backend.url.replace("sqlite:", "sqlite+aiosqlite:")

    async def scenario() -> tuple[list[str], list[str]]:
        engine = create_async_engine(url)
        tasks = AsyncTaskRepository(create_repository(engine, owner="me"))
        try:
            async with engine.begin() as tx:
                polled = [await tasks.poll_between(tx, topic, low, "c") for low in (None, "b")]
                listed = await tasks.between(tx, topic, "b", None, lock=True)
                return [task.identifier for task in polled if task], [task.identifier for task in listed]
        finally:
            await engine.dispose()

    assert asyncio.run(scenario()) == (["a", "b"], ["b", "c"])
