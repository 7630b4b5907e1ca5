"""Under a SINGULAR condition no two tasks of one topic and identifier are ever held at once (P4)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, Insertion, Order, Revivification, TaskCreation, TaskDecision, TaskRef
from tests.backends.steps import poll, push
from tests.contention import ledger, roles
from tests.contention.member import CROWD, part
from tests.contention.plain_sql import execute, hurry

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import Task, TaskRepository
    from tests.backends import Backend, Transaction
    from tests.contention.processes import Processes
    from tests.contention.threads import Threads

pytestmark = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")
each_claim = pytest.mark.parametrize("claims", list(product(Claim, Claim)))
each_order = pytest.mark.parametrize("order", Order)

SINGULAR = Condition.SINGULAR_BY_IDENTIFIER
ON_FAILURE = Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
FIFO, LIFO = Order.FIRST_IN_FIRST_OUT, Order.LAST_IN_FIRST_OUT


class Rival:
    """Another consumer, which tells what it could poll now and gives it back."""

    def __init__(self, backend: Backend, topic: str, order: Order = FIFO, claim: Claim = Claim.COMMITTED) -> None:
        self._backend = backend
        self._repository = backend.repository("rival")
        self._topic = topic
        self._order = order
        self._claim = claim

    def sees(self, size: int = 10, condition: Condition = SINGULAR) -> list[Task]:
        """What a poll gets that waits for nobody."""
        transaction = self._backend.open()
        if self._backend.name != "sqlite":
            hurry(transaction)
        tasks = self._repository.poll_many(
            transaction, self._topic, size, order=self._order, condition=condition, claim=self._claim
        )
        self._backend.close(transaction)
        return tasks


@servers
@each_claim
def test_late_committed_lower_sequence_waits_for_the_claimed_one(
    backend: Backend, repository: TaskRepository[Any], topic: str, claims: tuple[Claim, Claim]
) -> None:
    """FIFO: what commits below a claim of its identifier is not polled beside it (P4, PO-B3, PO-B4)."""
    mine, theirs = claims
    producer, consumer = backend.open(), backend.open()
    late = repository.push(producer, topic, "a")
    push(backend, repository, topic, "a")
    held = repository.poll(consumer, topic, condition=SINGULAR, claim=mine)
    backend.commit(producer)
    rival = Rival(backend, topic, FIFO, theirs)
    _assert_blocked_until_decided(repository, consumer, topic, held, rival)
    assert rival.sees() == [late]


@servers
@each_claim
def test_newer_push_waits_for_the_claimed_one(
    backend: Backend, repository: TaskRepository[Any], topic: str, claims: tuple[Claim, Claim]
) -> None:
    """LIFO: what is pushed above a claim of its identifier is not polled beside it (P4, PO-B2, PO-B4)."""
    mine, theirs = claims
    push(backend, repository, topic, "a")
    consumer = backend.open()
    held = repository.poll(consumer, topic, order=LIFO, condition=SINGULAR, claim=mine)
    [newer] = push(backend, repository, topic, "a")
    rival = Rival(backend, topic, LIFO, theirs)
    _assert_blocked_until_decided(repository, consumer, topic, held, rival)
    assert rival.sees() == [newer]


def _assert_blocked_until_decided(
    repository: TaskRepository[Any], transaction: Transaction, topic: str, held: Task | None, rival: Rival
) -> None:
    """From an open claim through its commit to the commit of its decision the rival gets nothing."""
    assert held is not None
    assert rival.sees() == []
    if held.claim is Claim.COMMITTED:
        transaction.commit()
        assert rival.sees() == []
    repository.complete(transaction, topic, held)
    assert rival.sees() == []
    transaction.commit()


@servers
@each_order
@each_claim
def test_open_claim_blocks_its_siblings_until_it_ends(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, claims: tuple[Claim, Claim]
) -> None:
    """While a claim is open no sibling is polled; rolled back, it is first again (P4, PO-17, PO-21)."""
    mine, theirs = claims
    tasks = push(backend, repository, topic, "a", "a")[:: -1 if order is LIFO else 1]
    rival = Rival(backend, topic, order, theirs)
    consumer = backend.open()
    assert repository.poll(consumer, topic, order=order, condition=SINGULAR, claim=mine) == tasks[0]
    assert rival.sees() == []
    backend.rollback(consumer)
    assert rival.sees() == tasks[:1]


@each_order
@each_claim
def test_second_poll_in_a_transaction_brings_no_sibling(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, claims: tuple[Claim, Claim]
) -> None:
    """A transaction's own claim blocks its identifier for it too, until it is decided (P4, PO-10, PO-B4)."""
    mine, theirs = claims
    with backend.begin() as transaction:
        repository.push(transaction, topic, "a")
        held = repository.poll_many(transaction, topic, 5, order=order, condition=SINGULAR, claim=mine)
        sibling = repository.push(transaction, topic, "a")
        stranger = repository.push(transaction, topic, "b")
        more = repository.poll_many(transaction, topic, 5, order=order, condition=SINGULAR, claim=theirs)
        assert more == [stranger]
        repository.complete_many(transaction, topic, dict.fromkeys([*held, *more], TaskDecision.SUCCESS))
        last = repository.poll_many(transaction, topic, 5, order=order, condition=SINGULAR, claim=theirs)
        assert last == [sibling]


@pytest.mark.parametrize("condition", [Condition.NONE, SINGULAR])
def test_claim_inside_a_savepoint_lasts_as_long_as_the_savepoint(
    backend: Backend, repository: TaskRepository[Any], topic: str, condition: Condition
) -> None:
    """A claim of the transaction survives the release of its savepoint, and ends with its rollback (P4)."""
    tasks = push(backend, repository, topic, "a", "b")
    transaction = backend.open()
    claim = Claim.TRANSACTION
    repository.poll_many(transaction, topic, 1, condition=condition, claim=claim)
    backend.commit(transaction)  # a claim that was never decided is forgotten
    execute(transaction, "BEGIN" if backend.name == "sqlite" else "SELECT topic FROM task_topic")
    for end in ("ROLLBACK TO", "RELEASE"):
        execute(transaction, "SAVEPOINT attempt")
        assert repository.poll_many(transaction, topic, 1, condition=condition, claim=claim) == tasks[:1]
        if end == "ROLLBACK TO" or backend.name != "oracle":  # which has no other end for them
            execute(transaction, f"{end} SAVEPOINT attempt")
    assert repository.poll_many(transaction, topic, 5, condition=condition, claim=claim) == tasks[1:]


@each_claim
def test_task_decided_and_reset_in_its_transaction_is_polled_again(
    backend: Backend, repository: TaskRepository[Any], topic: str, claims: tuple[Claim, Claim]
) -> None:
    """A claim that was decided is none any more, also for the transaction that held it (P4, RE-09)."""
    first, second = claims
    with backend.begin() as transaction:
        repository.push(transaction, topic, "a")
        [task] = repository.poll_many(transaction, topic, 1, condition=SINGULAR, claim=first)
        repository.complete(transaction, topic, task, TaskDecision.FAILURE)
        repository.recreate(transaction, topic, Revivification.RESET, [task])
        assert repository.poll_many(transaction, topic, 1, condition=SINGULAR, claim=second) == [task]


def test_late_lower_sequence_in_the_same_transaction_waits_too(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A lower sibling released beside the transaction's own claim is not polled with it (P4, PO-B3)."""
    push(backend, repository, topic, "a", "a")
    with backend.begin() as transaction:
        lower, _ = repository.poll_many(transaction, topic, 2)
        repository.release(transaction, topic, [lower])
        assert repository.poll(transaction, topic, condition=SINGULAR, claim=Claim.TRANSACTION) is None


@servers
@pytest.mark.parametrize("claim", Claim)
def test_claims_of_another_topic_do_not_block(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """SINGULAR is judged inside the topic, for open claims as for committed ones (P4, PO-B1)."""
    with backend.begin() as transaction:
        repository.initialize(transaction, "elsewhere")
    push(backend, repository, "elsewhere", "a", "b")
    tasks = push(backend, repository, topic, "a", "b")
    assert len(poll(backend, repository, "elsewhere", condition=SINGULAR)) == 1
    consumer = backend.open()
    assert repository.poll(consumer, "elsewhere", condition=SINGULAR, claim=claim) is not None
    assert Rival(backend, topic).sees() == tasks


@each_order
@pytest.mark.parametrize("size", [1, 10])
def test_thousand_blocked_tasks_do_not_starve_the_next(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, size: int
) -> None:
    """A long line behind one held task is passed over to the next identifier (P4)."""
    identifiers = [*["busy"] * 1000, "free"]
    tasks = push(backend, repository, topic, *identifiers[:: -1 if order is LIFO else 1])
    [held] = poll(backend, repository, topic, order=order, condition=SINGULAR)
    assert held.identifier == "busy"
    assert Rival(backend, topic, order).sees(size) == [tasks[0 if order is LIFO else -1]]


@each_order
@pytest.mark.parametrize("size", [1, 3, 500])
def test_thousand_blocked_identifiers_do_not_starve_the_next(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, size: int
) -> None:
    """However many identifiers are passed over, in the order of the rest (P3, P4)."""
    busy, free = [f"busy {number}" for number in range(1000)], ["first", "second", "third"]
    push(backend, repository, topic, *busy)
    assert len(poll(backend, repository, topic, 1000, condition=SINGULAR)) == 1000
    ahead = [] if order is LIFO else busy * 3
    behind = busy * 3 if order is LIFO else []
    tasks = push(backend, repository, topic, *ahead, *free, *behind)[len(ahead) : len(ahead) + len(free)]
    assert Rival(backend, topic, order).sees(size) == tasks[:: -1 if order is LIFO else 1][:size]


@servers
@each_order
@pytest.mark.parametrize("claim", Claim)
def test_thousand_tasks_behind_an_open_claim_do_not_starve_the_next(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, claim: Claim
) -> None:
    """The same while the claim is open, which nobody waits for (P4, PO-21)."""
    identifiers = [*["busy"] * 1000, "free"]
    tasks = push(backend, repository, topic, *identifiers[:: -1 if order is LIFO else 1])
    consumer = backend.open()
    held = repository.poll(consumer, topic, order=order, condition=SINGULAR, claim=claim)
    assert held is not None
    assert held.identifier == "busy"
    assert Rival(backend, topic, order).sees(1) == [tasks[0 if order is LIFO else -1]]


@servers
@pytest.mark.parametrize("claim", Claim)
def test_open_claims_of_many_identifiers_leave_the_others_free(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """Fifty open claims keep no other identifier back (P4, PO-05, PO-16)."""
    tasks = push(backend, repository, topic, *(f"identifier-{index}" for index in range(100)))
    consumer = backend.open()
    assert repository.poll_many(consumer, topic, 50, condition=SINGULAR, claim=claim) == tasks[:50]
    assert Rival(backend, topic).sees(100) == tasks[50:]


@servers
@pytest.mark.parametrize("claim", Claim)
def test_one_open_claim_keeps_no_other_identifier_from_a_big_poll(
    backend: Backend, repository: TaskRepository[Any], topic: str, claim: Claim
) -> None:
    """One held identifier keeps nobody else's back, however many are asked for (P4, PO-05)."""
    tasks = push(backend, repository, topic, *(f"identifier-{index}" for index in range(300)))
    consumer = backend.open()
    assert repository.poll_many(consumer, topic, 1, condition=SINGULAR, claim=claim) == tasks[:1]
    assert Rival(backend, topic).sees(1000) == tasks[1:]


@servers
def test_open_failure_blocks_before_and_after_its_commit(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """From an open failure on nothing of the identifier is polled under SUSPEND_ON_FAILURE (P4, PO-11)."""
    push(backend, repository, topic, "a", "a")
    rival = Rival(backend, topic)
    [held] = poll(backend, repository, topic, condition=ON_FAILURE)
    failing = backend.open()
    repository.complete(failing, topic, held, TaskDecision.FAILURE)
    assert rival.sees(condition=ON_FAILURE) == []
    backend.commit(failing)
    assert rival.sees(condition=ON_FAILURE) == []


@pytest.mark.parametrize(
    "orders", [[FIFO] * CROWD, [LIFO] * CROWD, [FIFO, LIFO] * (CROWD // 2)], ids=["fifo", "lifo", "mixed"]
)
@pytest.mark.kinds("plain")
def test_hammered_identifiers_are_never_held_twice(
    backend: Backend,
    topic: str,
    crowd: Threads | Processes,
    orders: list[Order],
) -> None:
    """Four who push and work 20 identifiers, in both kinds of claim, never hold one twice (P4, PO-B4)."""
    ledger.create(backend)
    pushes = 25
    done = crowd.race(
        *(
            part(
                f"worker-{index}",
                roles.juggle,
                topic=topic,
                identifiers=[f"identifier-{number}" for number in range(20)],
                pushes=pushes,
                order=order,
                claim=[Claim.COMMITTED, Claim.COMMITTED, Claim.TRANSACTION, Claim.TRANSACTION][index],
                seed=index,
            )
            for index, order in enumerate(orders)
        )
    )
    assert ledger.overlaps(backend) == []
    assert sum(done) == CROWD * pushes * 3
    assert list(ledger.ends(backend).values()) == [1] * sum(done)


def test_nothing_is_claimed_after_a_failure_of_its_identifier(
    backend: Backend, topic: str, crowd: Threads | Processes
) -> None:
    """Hammered under SUSPEND_ON_FAILURE, an identifier rests from its first failure on (P4, PO-11)."""
    ledger.create(backend)
    crowd.race(
        *(
            part(
                f"worker-{index}",
                roles.juggle,
                topic=topic,
                identifiers=[f"identifier-{number}" for number in range(20)],
                pushes=25,
                order=FIFO,
                claim=[Claim.COMMITTED, Claim.TRANSACTION][index % 2],
                condition=ON_FAILURE,
                failing=True,
                seed=index,
            )
            for index in range(CROWD)
        )
    )
    assert ledger.overlaps(backend) == []
    assert ledger.after_failure(backend) == []


LOCKERS: dict[str, Callable[[TaskRepository[Any], Transaction, str, Task], object]] = {
    "replacing push": lambda r, tx, topic, _: r.push(tx, topic, "a", insertion=Insertion.REPLACE),
    "dependent push": lambda r, tx, topic, task: r.push(
        tx, topic, TaskCreation("z", after=(TaskRef(topic, task.sequence),))
    ),
    "poll": lambda r, tx, topic, _: r.poll(tx, topic),
    "transactional poll": lambda r, tx, topic, _: r.poll(tx, topic, claim=Claim.TRANSACTION),
}


@servers
@pytest.mark.parametrize("kind", LOCKERS)
def test_task_that_somebody_has_locked_holds_up_no_other(
    backend: Backend, repository: TaskRepository[Any], topic: str, kind: str
) -> None:
    """Its row is passed over, and neither counts nor comes back in place of those behind it (P4, PO-05)."""
    first, *others = push(backend, repository, topic, "a", "b", "c", "a")
    rival = Rival(backend, topic)
    transaction = backend.open()
    LOCKERS[kind](repository, transaction, topic, first)
    seen = [rival.sees(size) for size in (1, 2, 10)]
    backend.close(transaction)
    assert seen == [others[:1], others[:2], others[:2]]


@pytest.mark.backends("postgresql")
@each_order
@pytest.mark.parametrize("size", [100, 500])
def test_many_open_claims_leave_the_rest_to_others(
    backend: Backend, repository: TaskRepository[Any], topic: str, order: Order, size: int
) -> None:
    """However many identifiers are claimed in open transactions, whoever comes next gets as many others (P4, PO-05)."""
    pushed = push(backend, repository, topic, *map(str, range(5_000)))
    transactions = [backend.open() for _ in range(6)]
    polled = [
        repository.poll_many(tx, topic, size, order=order, condition=SINGULAR, claim=Claim.TRANSACTION)
        for tx in transactions
    ]
    ordered = sorted(pushed, reverse=order is LIFO)
    assert polled == [ordered[start : start + size] for start in range(0, 6 * size, size)]
