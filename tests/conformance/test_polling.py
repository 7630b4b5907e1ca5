"""Polling without conditions: section 3 of the behaviours."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product, starmap
from operator import attrgetter
from typing import NamedTuple

import pytest

from task_api import (
    Claim,
    Condition,
    InvalidTaskError,
    Order,
    Revivification,
    Task,
    TaskDecision,
    TaskState,
    UnknownOwnerError,
    UnknownTopicError,
)
from tests.backends import Backend, Transaction
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run

EVERY_CLAIM = pytest.mark.parametrize("claim", Claim, ids=attrgetter("name"))
FIRST, LAST = Order.FIRST_IN_FIRST_OUT, Order.LAST_IN_FIRST_OUT


class Variant(NamedTuple):
    """One of the ways to poll."""

    order: Order
    condition: Condition
    claim: Claim


VARIANTS = list(starmap(Variant, product(Order, Condition, Claim)))


def polled_and_undone(backend: Backend, repository: Repository, topic: str, size: int) -> dict[Variant, list[int]]:
    """Poll in every way, each time from the same start; give the sequences."""
    tx = backend.open()
    found = {}
    for variant in VARIANTS:
        found[variant] = sequences(repository.poll_many(tx, topic, size, **variant._asdict()))
        backend.rollback(tx)
    backend.close(tx)
    return found


def sequences(tasks: list[Task]) -> list[int]:
    """Return the tasks' sequences in their order."""
    return [task.sequence for task in tasks]


def test_a_poll_by_default(backend: Backend, repository: Repository, topic: str) -> None:
    """One task, the oldest, whatever its siblings; nothing when there is none (PO-01)."""
    tasks = push(backend, repository, topic, "a", "a")
    polled = [run(backend, repository.poll, topic) for _ in range(3)]

    assert polled == [*tasks, None]


def test_the_sized_form_gives_a_list(backend: Backend, repository: Repository, topic: str) -> None:
    """Several tasks come as a list in order, none as an empty one (PO-01)."""
    tasks = push(backend, repository, topic, "a", "b")

    assert [poll(backend, repository, topic, 2) for _ in range(2)] == [tasks, []]


@pytest.mark.kinds("driver", "plain")
@EVERY_CLAIM
def test_only_ready_tasks_of_the_topic_are_eligible(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Tasks in any other state, or of another topic, are not polled (PO-02)."""
    run(backend, repository.initialize, "other")
    push(backend, repository, "other", "a")
    one_of_each(backend, repository, topic)
    ready = [sequence for sequence, state in states(backend, repository, topic).items() if state is TaskState.READY]

    assert sequences(poll(backend, repository, topic, 100, claim=claim)) == ready


def test_a_polled_task_is_active_and_owned(backend: Backend, repository: Repository, topic: str) -> None:
    """State, owner and poll time change; creation, descent and input do not (PO-03)."""
    [task] = push(backend, repository, topic, "a", input="in", reference="ref")
    before = info(backend, repository, topic, task)
    poll(backend, repository, topic)
    after = info(backend, repository, topic, task)

    assert (after.state, after.owner, after.completed) == (TaskState.ACTIVE, "me", None)
    assert after.polled is not None
    kept = ("created", "descent", "input", "reference", "identifier", "output")
    assert {name: getattr(after, name) for name in kept} == {name: getattr(before, name) for name in kept}


def test_the_order_decides_which_and_how(backend: Backend, repository: Repository, topic: str) -> None:
    """FIFO takes the lowest sequences ascending, LIFO the highest descending (PO-04)."""
    push(backend, repository, topic, *"abcde")
    expected = {FIRST: [1, 2, 3], LAST: [5, 4, 3]}

    polled = polled_and_undone(backend, repository, topic, 3)
    assert polled == {variant: expected[variant.order] for variant in VARIANTS}


def test_the_result_is_sorted_whatever_the_table_looks_like(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """One rule for all variants: rows rewritten in disorder still come sorted (PO-04, PO-B6)."""
    push(backend, repository, topic, *map(str, range(30)))
    for task in sorted(poll(backend, repository, topic, 30), key=lambda task: task.sequence * 7 % 31):
        run(backend, repository.release, topic, [task])
    expected = {FIRST: list(range(1, 26)), LAST: list(range(30, 5, -1))}

    polled = polled_and_undone(backend, repository, topic, 25)
    assert polled == {variant: expected[variant.order] for variant in VARIANTS}


def test_the_size_is_an_upper_bound(backend: Backend, repository: Repository, topic: str) -> None:
    """Fewer come only when there are fewer (PO-05)."""
    push(backend, repository, topic, "a", "b", "c")
    sizes = [0, 1, 3, 4, 1_000_000]

    polled = [polled_and_undone(backend, repository, topic, size) for size in sizes]
    assert [{len(found) for found in it.values()} for it in polled] == [{0}, {1}, {3}, {3}, {3}]


def test_size_zero_does_not_ask_the_database(backend: Backend, topic: str) -> None:
    """Even an owner that nobody knows may poll nothing (PO-05, PO-B9)."""
    stranger = backend.repository("stranger", register=False)

    assert poll(backend, stranger, topic, 0) == []


def test_a_large_batch_can_be_polled(backend: Backend, repository: Repository, topic: str) -> None:
    """A poll of some thousand tasks brings them all, in order (PO-05)."""
    tasks = push(backend, repository, topic, *map(str, range(5000)))

    assert sequences(poll(backend, repository, topic, 5000)) == sequences(tasks)


@EVERY_CLAIM
def test_polled_tasks_carry_their_input(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """Identifier and input come with the task (PO-06)."""
    run(backend, repository.push_many, topic, {"a": "in", "b": None})

    polled = poll(backend, repository, topic, 2, claim=claim)
    assert [(task.identifier, task.input) for task in polled] == [("a", "in"), ("b", None)]


@pytest.mark.parametrize("name", ["topic", "unknown"])
def test_an_unknown_or_empty_topic_yields_nothing(
    backend: Backend, repository: Repository, topic: str, name: str
) -> None:
    """Neither is an error by default (PO-07)."""
    push(backend, repository, topic, "a", suspended=True)

    assert polled_and_undone(backend, repository, name, 10) == {variant: [] for variant in VARIANTS}
    assert run(backend, repository.poll, name) is None


@EVERY_CLAIM
def test_a_strict_poll_refuses_an_unknown_topic(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """With strict a misspelt topic is an error, and the transaction goes on (PO-07)."""
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError, match="unknown"):
            repository.poll(tx, "unknown", strict=True, claim=claim)
        with pytest.raises(UnknownTopicError, match="unknown"):
            repository.poll_many(tx, "unknown", 10, strict=True, claim=claim)
        nothing = repository.poll(tx, topic, strict=True, claim=claim)
        task = repository.push(tx, topic, "a")

    assert nothing is None
    assert states(backend, repository, topic) == {task.sequence: TaskState.READY}


@EVERY_CLAIM
def test_an_unregistered_owner_may_not_poll(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """The error names the owner, nothing is claimed, and the transaction goes on (PO-20)."""
    [task] = push(backend, repository, topic, "a")
    stranger = backend.repository("stranger", register=False)
    with backend.begin() as tx:
        with pytest.raises(UnknownOwnerError, match="stranger"):
            stranger.poll(tx, topic, claim=claim)
        other = stranger.push(tx, topic, "b")

    assert states(backend, repository, topic) == dict.fromkeys([task.sequence, other.sequence], TaskState.READY)


def test_an_owner_registered_in_the_same_transaction_may_poll(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Registration counts at once (PO-20)."""
    tasks = push(backend, repository, topic, "a")
    newcomer = backend.repository("newcomer", register=False)
    with backend.begin() as tx:
        newcomer.register(tx)
        polled = newcomer.poll_many(tx, topic, 1)

    assert polled == tasks


WRONG: dict[str, Callable[[Transaction, Repository], object]] = {
    "negative size": lambda tx, repository: repository.poll_many(tx, "topic", -1),
    "size of a wrong type": lambda tx, repository: repository.poll_many(tx, "topic", "1"),  # type: ignore[arg-type]
    "fractional size": lambda tx, repository: repository.poll_many(tx, "topic", 1.5),  # type: ignore[arg-type]
    "empty topic": lambda tx, repository: repository.poll(tx, ""),
    "over-long topic": lambda tx, repository: repository.poll(tx, "t" * 251),
    "order as text": lambda tx, repository: repository.poll(tx, "topic", order="LAST_IN_FIRST_OUT"),  # type: ignore[arg-type]
    "condition as text": lambda tx, repository: repository.poll(tx, "topic", condition="NONE"),  # type: ignore[arg-type]
    "claim as text": lambda tx, repository: repository.poll(tx, "topic", claim="COMMITTED"),  # type: ignore[arg-type]
    "negative lease": lambda tx, repository: repository.poll(tx, "topic", lease=timedelta(seconds=-1)),
    "lease of a wrong type": lambda tx, repository: repository.poll(tx, "topic", lease=60),  # type: ignore[arg-type]
}


def test_wrong_arguments_are_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """A negative size, a wrong name or a wrong type is an error, and nothing is claimed (PO-B9)."""
    [task] = push(backend, repository, topic, "a")
    refused = set()
    with backend.begin() as tx:
        for name, call in WRONG.items():
            try:
                call(tx, repository)
            except InvalidTaskError:
                refused.add(name)
        other = repository.push(tx, topic, "b")

    assert refused == set(WRONG)
    assert states(backend, repository, topic) == dict.fromkeys([task.sequence, other.sequence], TaskState.READY)


@EVERY_CLAIM
def test_a_rollback_undoes_a_poll(backend: Backend, repository: Repository, topic: str, claim: Claim) -> None:
    """The tasks are READY again with their previous owner, attempt and token (PO-17)."""
    push(backend, repository, topic, "a")
    [released] = poll(backend, repository, topic)
    run(backend, repository.release, topic, [released])
    before = info(backend, repository, topic, released)
    tx = backend.open()
    backend.repository("other").poll(tx, topic, claim=claim)
    backend.rollback(tx)
    backend.close(tx)
    after = info(backend, repository, topic, released)

    kept = ("state", "owner", "attempt", "token", "polled", "lease")
    assert after.state is TaskState.READY
    assert {name: getattr(after, name) for name in kept} == {name: getattr(before, name) for name in kept}


def retried(tx: Transaction, repository: Repository, topic: str, task: Task) -> None:
    """Decide that the task is tried again, at once."""
    repository.complete(tx, topic, task, TaskDecision.retry(timedelta(0)))
    repository.promote(tx, topic)


def reset(tx: Transaction, repository: Repository, topic: str, task: Task) -> None:
    """Decide that the task failed, and reset it."""
    repository.complete(tx, topic, task, TaskDecision.FAILURE)
    repository.recreate(tx, topic, Revivification.RESET, [task])


def joined(tx: Transaction, repository: Repository, topic: str, task: Task) -> None:
    """Suspend the task, and release it by a junction."""
    repository.complete(tx, topic, task, TaskDecision.SUSPENSION)
    repository.junction(tx, topic, [[task.identifier]])


def released(tx: Transaction, repository: Repository, topic: str, task: Task) -> None:
    """Give the task back."""
    repository.release(tx, topic, [task])


def go_far(backend: Backend, repository: Repository, topic: str) -> None:
    """Poll and complete one by one, so that whatever a repository remembers of a topic moves on."""
    for _ in range(10):
        complete(backend, repository, topic, poll(backend, repository, topic))


@pytest.mark.parametrize("way", [released, retried, reset, joined], ids=attrgetter("__name__"))
def test_what_comes_back_is_polled_at_its_old_place(
    backend: Backend,
    repository: Repository,
    topic: str,
    way: Callable[[Transaction, Repository, str, Task], None],
) -> None:
    """The lowest eligible sequence comes first, however far polls have gone meanwhile (PO-04, PO-22)."""
    first, *others = push(backend, repository, topic, *map(str, range(20)))
    other = backend.repository("other")
    [held] = poll(backend, other, topic)
    go_far(backend, repository, topic)
    run(backend, way, other, topic, held)

    assert [poll(backend, repository, topic) for _ in range(2)] == [[first], [others[10]]]


# With several consumers at once --------------------------------------------------------------------------


@pytest.mark.backends("postgresql", "oracle")
def test_a_second_poll_skips_what_an_open_one_claimed(backend: Backend, repository: Repository, topic: str) -> None:
    """It neither waits nor fails, and its batch is full and disjoint (PO-05, PO-16, PO-18, PO-19)."""
    tasks = push(backend, repository, topic, *"abcdef")
    other = backend.repository("other")
    one, two = backend.open(), backend.open()
    for variant in VARIANTS:
        first = repository.poll_many(one, topic, 2, **variant._asdict())
        second = other.poll_many(two, topic, 2, **variant._asdict())
        third = repository.poll_many(one, topic, 10, **variant._asdict())
        backend.rollback(one)
        backend.rollback(two)
        expected = tasks if variant.order is FIRST else tasks[::-1]
        assert (variant, first, second, third) == (variant, expected[:2], expected[2:4], expected[4:])


@pytest.mark.backends("postgresql", "oracle")
def test_a_lower_sequence_committed_late_is_polled_when_it_appears(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """Order holds among the visible; nobody waits for the invisible, and nothing is missed (PO-05, PO-22)."""
    late = backend.open()
    low = repository.push(late, topic, "low")
    others = push(backend, repository, topic, *map(str, range(20)))
    go_far(backend, repository, topic)
    backend.commit(late)

    assert [poll(backend, repository, topic), poll(backend, repository, topic, 100)] == [[low], others[10:]]


@pytest.mark.backends("postgresql", "oracle")
@EVERY_CLAIM
def test_a_claim_rolled_back_late_is_polled_at_its_old_place(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Others go past an open claim and come back to it when it was rolled back (PO-16, PO-17, PO-22)."""
    first, *others = push(backend, repository, topic, *map(str, range(20)))
    tx = backend.open()
    backend.repository("other").poll(tx, topic, claim=claim)
    go_far(backend, repository, topic)
    backend.rollback(tx)

    assert [poll(backend, repository, topic), poll(backend, repository, topic, 100)] == [[first], others[10:]]


@pytest.mark.backends("postgresql", "oracle")
def test_polled_tasks_are_stored_with_the_owner_that_got_them(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """What each poll returned is what it claimed (PO-03, PO-16, PO-19)."""
    push(backend, repository, topic, *"abcd")
    one, other = backend.open(), backend.open()
    mine = repository.poll_many(one, topic, 2)
    theirs = backend.repository("other").poll_many(other, topic, 2)
    backend.commit(one)
    backend.commit(other)

    assert [info(backend, repository, topic, task).owner for task in mine + theirs] == [
        "me",
        "me",
        "other",
        "other",
    ]
