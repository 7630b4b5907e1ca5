"""
What a call costs must not depend on how much has been finished before it.

Each statement that a call executes is explained, inside of functions too, and its pages are counted: with a
million finished tasks as with ten thousand, and while an old snapshot keeps every dead row version.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import sqlalchemy

from task_api import Claim, Condition, Insertion, Order, Task, TaskDecision
from task_sql import PostgresTaskRepository
from tests.sql.explaining import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.backends.provision import PostgresProvision
    from tests.sql.explaining import Cost

TOPIC = "topic"
FEW, MANY = 10_000, 1_000_000
BATCH = 20
TIDYING = 60
"""So many pages more are touched where an entry goes to a full page of an index, which is rid of dead ones first."""
_HISTORY = """
INSERT INTO task (topic, identifier, state, attempt, token, owner, polled, completed, input)
SELECT 'topic', 'done-' || mod(i, 5000), 6, 1, 1, 'me', now(), now(), repeat('x', 50) FROM generate_series(1, %s) AS i
"""


class Subject:
    """A database with a history, and a repository on it."""

    def __init__(self, connection: psycopg.Connection[Any], dsn: str) -> None:
        self.connection, self.dsn = connection, dsn
        self.repository = PostgresTaskRepository("me")
        self.repository.register(self.connection)
        self.repository.initialize(self.connection, TOPIC)
        self.connection.commit()

    def remember(self, finished: int) -> None:
        """Store so many finished tasks, and some that are ready."""
        self.connection.execute(_HISTORY, [finished])
        self.push(2_000, "ready")
        self.vacuum()

    def vacuum(self) -> None:
        """Let the database know what there is."""
        self.connection.autocommit = True
        self.connection.execute("VACUUM (FREEZE, ANALYZE) task")
        self.connection.autocommit = False

    def push(self, number: int, prefix: str) -> None:
        """Push tasks of their own identifiers."""
        self.repository.push_many(self.connection, TOPIC, [f"{prefix}-{i}" for i in range(number)])
        self.connection.commit()

    def drain(self, most: int) -> int:
        """Take tasks through a poll and a completion; return how many they were."""
        drained = 0
        while drained < most and (tasks := self.repository.poll_many(self.connection, TOPIC, 100)):
            self.connection.commit()
            self.repository.complete_many(self.connection, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            self.connection.commit()
            drained += len(tasks)
        self.connection.commit()
        return drained

    def cost(self, call: Callable[[PostgresTaskRepository, Any], object]) -> Cost:
        """Count the pages of a call, and undo it."""
        with explained(self.connection) as cost:
            call(self.repository, self.connection)
        self.connection.rollback()
        return cost


@pytest.fixture(scope="module", params=[True, False], ids=["partitioned", "plain"])
def subjects(
    request: pytest.FixtureRequest, postgresql_provision: PostgresProvision
) -> Iterator[tuple[Subject, Subject]]:
    """Two databases, one with a hundred times the history of the other."""
    with ExitStack() as stack:
        pair = []
        for finished in (FEW, MANY):
            url = sqlalchemy.make_url(stack.enter_context(postgresql_provision.create(partitioned=request.param)))
            dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
            pair.append(Subject(stack.enter_context(closing(psycopg.connect(dsn))), dsn))
            pair[-1].remember(finished)
        yield pair[0], pair[1]


def _poll(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.poll_many(tx, TOPIC, BATCH)


def _poll_singular(repository: PostgresTaskRepository, tx: Any) -> list[Task]:  # noqa: ANN401
    return repository.poll_many(tx, TOPIC, BATCH, condition=Condition.SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS)


def _claim_and_decide(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    tasks = repository.poll_many(tx, TOPIC, BATCH, claim=Claim.TRANSACTION)
    repository.complete_many(tx, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
    return tasks


def _complete(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    tasks = repository.poll_many(tx, TOPIC, BATCH)
    repository.complete_many(tx, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
    return tasks


def _supersede(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    identifiers = [f"done-{i}" for i in range(BATCH)]
    return repository.push_many(tx, TOPIC, identifiers, insertion=Insertion.SUPERSEDE)


def _junction(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.junction(tx, TOPIC, [["done-1", "missing"], ["done-2", "done-3"]])


def _promote(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.promote(tx, TOPIC), repository.next_due(tx, TOPIC)


def _poll_between(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.poll_between(tx, TOPIC, "ready-19", "ready-2")


def _claim_between(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.poll_between(tx, TOPIC, None, None, claim=Claim.TRANSACTION)


def _between(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.between(tx, TOPIC, "ready-19", "ready-2")


def _lock_between(repository: PostgresTaskRepository, tx: Any) -> object:  # noqa: ANN401
    return repository.between(tx, TOPIC, "ready-19", "ready-2", lock=True)


CALLS = [_poll, _poll_singular, _claim_and_decide, _complete, _supersede, _junction, _promote]
RANGES = [_poll_between, _claim_between, _between, _lock_between]


@pytest.mark.parametrize("call", [*CALLS, *RANGES], ids=lambda call: call.__name__[1:])
def test_a_long_history_costs_no_pages(
    subjects: tuple[Subject, Subject], call: Callable[[PostgresTaskRepository, Any], object]
) -> None:
    """A call touches as many pages with a million finished tasks as with ten thousand, deeper indexes aside (PA-07)."""
    for subject in subjects:
        subject.cost(call)  # it marks what calls before it left dead
    small, large = (subject.cost(call) for subject in subjects)

    assert large.scans == []
    assert large.pages <= 1.7 * small.pages + TIDYING


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__[1:])
def test_pinned_row_versions_cost_no_pages(
    subjects: tuple[Subject, Subject], call: Callable[[PostgresTaskRepository, Any], object]
) -> None:
    """Nor does a transaction elsewhere that keeps the dead versions of all that is done since (P3, PO-B6)."""
    subject, _ = subjects
    subject.push(100, "before")
    before = subject.cost(call)
    with psycopg.connect(subject.dsn) as pinning:
        pinning.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        pinning.execute("SELECT count(*) FROM task_topic")
        subject.push(5_000, "pinned")
        assert subject.drain(4_500) == 4_500
        after = subject.cost(call)

    assert after.scans == []
    assert after.pages <= 1.7 * before.pages + TIDYING


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "plain"])
def test_a_topic_that_grows_from_nothing_is_never_read_from_end_to_end(
    *, postgresql_provision: PostgresProvision, partitioned: bool
) -> None:
    """Plans that are kept from when a topic was empty still fit when it is large (PA-07)."""
    with postgresql_provision.create(partitioned=partitioned) as url:
        dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(dsn)) as connection:
            repository = PostgresTaskRepository("me")
            repository.register(connection)
            repository.initialize(connection, TOPIC)
            connection.commit()
            before = _scanned(connection)
            for size in (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2_000, 1):
                _live(repository, connection, size)
                connection.commit()
            after = _scanned(connection)

    assert after == before


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "plain"])
def test_a_burst_into_a_new_topic_is_planned_for(*, postgresql_provision: PostgresProvision, partitioned: bool) -> None:
    """Before statistics were taken, a call goes through the topic once at the worst, never for each task (PA-07)."""
    with postgresql_provision.create(partitioned=partitioned) as url:
        dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(dsn)) as connection:
            subject = Subject(connection, dsn)
            subject.push(3_000, "burst")
            subject.push(3_000, "burst")
            pages = {call.__name__: subject.cost(call).pages for call in CALLS}

    # Each of five conditions on a task is a look into an index of three levels; squared it would be millions.
    assert {name: number for name, number in pages.items() if number > 6_000 * 5 * 4} == {}
    # What is held is found by its key: some pages for each task, whatever else is READY.
    assert max(pages["_claim_and_decide"], pages["_complete"]) < BATCH * 100


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "plain"])
def test_long_queues_of_few_identifiers_cost_no_pages(
    *, postgresql_provision: PostgresProvision, partitioned: bool
) -> None:
    """A SINGULAR poll does not pass over the same tasks of blocked identifiers again and again (P4, PO-B4)."""
    pages = []
    for length in (100, 1_000):
        with postgresql_provision.create(partitioned=partitioned) as url:
            dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
            with closing(psycopg.connect(dsn)) as connection:
                subject = Subject(connection, dsn)
                for _ in range(length):
                    subject.push(20, "hot")
                subject.vacuum()
                tasks = _poll_hot(subject.repository, connection)
                connection.commit()
                subject.repository.complete_many(connection, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
                connection.commit()
                _learn(subject)
                pages.append(subject.cost(_poll_hot).pages)

    short, long = pages
    assert long <= 1.7 * short + TIDYING


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "plain"])
@pytest.mark.parametrize("order", Order)
def test_the_first_look_at_long_queues_judges_few_tasks(
    *, postgresql_provision: PostgresProvision, partitioned: bool, order: Order
) -> None:
    """A SINGULAR poll that knows nothing yet goes through the tasks, but asks about identifiers alone (P4, PO-B4)."""
    with postgresql_provision.create(partitioned=partitioned) as url:
        dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(dsn)) as connection:
            subject = Subject(connection, dsn)
            for _ in range(1_000):
                subject.push(20, "hot")
            subject.vacuum()
            pages = subject.cost(partial(_poll_hot, order=order)).pages

    # One for each task, and a tenth of that for the rest.
    assert pages < 22_000


@pytest.mark.parametrize("partitioned", [True, False], ids=["partitioned", "plain"])
def test_many_identifiers_cost_no_pages(*, postgresql_provision: PostgresProvision, partitioned: bool) -> None:
    """A SINGULAR poll that passes over nothing looks at what it takes, not at all who wait (P4, PO-B4)."""
    with postgresql_provision.create(partitioned=partitioned) as url:
        dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(dsn)) as connection:
            subject = Subject(connection, dsn)
            subject.push(5_000, "single")
            subject.vacuum()
            _settle(subject)
            pages = subject.cost(_poll_singular).pages

    assert pages < BATCH * 100


def _settle(subject: Subject) -> None:
    """Poll until the repository knows how far it has come, and some more: others on this server can put that off."""
    deadline = time.monotonic() + 60
    dialect: Any = subject.repository._dialect  # noqa: SLF001 - where it is known
    while not any(head.floor.settled for head in dialect._heads.values()):  # noqa: SLF001
        assert time.monotonic() < deadline, "nothing ever came to be settled"
        assert len(_poll_singular(subject.repository, subject.connection)) == BATCH
        subject.connection.rollback()
    for _ in range(50):
        assert len(_poll_singular(subject.repository, subject.connection)) == BATCH
        subject.connection.commit()


def _learn(subject: Subject) -> None:
    """Poll until the repository knows the queues: transactions of others on this server can put that off."""
    deadline = time.monotonic() + 60
    dialect: Any = subject.repository._dialect  # noqa: SLF001 - where it is known
    while not any(head.backlog.known[1] for head in dialect._heads.values()):  # noqa: SLF001
        assert time.monotonic() < deadline, "the queues never came to be known"
        assert len(_poll_hot(subject.repository, subject.connection)) == 20
        subject.connection.rollback()


def _poll_hot(
    repository: PostgresTaskRepository,
    tx: Any,  # noqa: ANN401
    order: Order = Order.FIRST_IN_FIRST_OUT,
) -> list[Task]:
    return repository.poll_many(tx, TOPIC, 10 * BATCH, order=order, condition=Condition.SINGULAR_BY_IDENTIFIER)


def _scanned(connection: psycopg.Connection[Any]) -> object:
    """Count how often the tasks were read from end to end."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    connection.commit()
    tables = "relname = 'task' OR relname ~ '^task_[0-9a-f]{32}$'"
    row = connection.execute(f"SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE {tables}").fetchone()  # noqa: S608
    connection.rollback()
    return row


def _live(repository: PostgresTaskRepository, tx: Any, size: int) -> None:  # noqa: ANN401
    """Do a bit of everything."""
    repository.push_many(tx, TOPIC, [f"append-{i}" for i in range(size)])
    for insertion in (Insertion.SUPERSEDE, Insertion.REPLACE, Insertion.DELETE):
        repository.push_many(tx, TOPIC, [f"replaced-{i}" for i in range(5)], insertion=insertion)
    for call in CALLS:
        call(repository, tx)
    repository.release(tx, TOPIC, repository.poll_many(tx, TOPIC, 2))
    repository.expire(tx, timedelta())
