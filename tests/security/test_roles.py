"""A user with a shipped role can do what its program has to, and nothing else; on PostgreSQL, with real logins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import text

from task_api import AccessError, Insertion, TaskDecision, TaskState
from task_sql import create_engine, schema
from tests.security.accounts import is_refusal
from tests.security.calls import (
    CALLS,
    COUNTING,
    DELETING,
    LOOKING,
    OWNING,
    PAUSING,
    PROMOTING,
    PUSHING,
    TOPIC,
    WAITING,
    set_up,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend
    from tests.security.accounts import Accounts

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "plain")]

PRODUCER = {*PUSHING, *COUNTING, *PROMOTING}
READER = {*COUNTING, *LOOKING}
WORKER = {*CALLS} - {*DELETING, *PAUSING, *OWNING}
ALLOWED: dict[tuple[str, ...], set[str]] = {
    ("reader",): READER,
    ("producer",): PRODUCER,
    ("producer", "reader"): {
        *PRODUCER,
        *READER,
        *WAITING,
        # What it takes to decide a task is what it takes to see it, and to let another fail that waits for it.
        "expire",
        "complete",
        "complete with a failure",
        "complete_many",
        "poll for the transaction",
        "reassign",
        "reassign_all",
    },
    ("producer", "deleter"): {*PRODUCER, *DELETING},
    ("worker",): WORKER,
    ("worker", "deleter"): WORKER | {*DELETING},
    ("operator",): {*CALLS} - {*OWNING},
}
"""What each may do that is called, by the roles that it has."""
FORBIDDEN = (
    "CREATE TABLE task_more (x integer)",
    "ALTER TABLE task ADD COLUMN more integer",
    "CREATE INDEX ON task (identifier)",
    "DROP TABLE task",
    "TRUNCATE task",
    "DROP FUNCTION task_initialize(text)",
    "UPDATE task_schema SET version = 1",
    "INSERT INTO task_topic (topic) VALUES ('mine')",
    "DELETE FROM task_topic",
    "UPDATE task SET identifier = 'another'",
    "UPDATE task SET created = now()",
    "UPDATE task SET topic = 'another'",
    "UPDATE task_owner SET owner = 'another'",
    "SELECT setval('task_sequence', 1)",
    "CREATE TRIGGER t BEFORE INSERT ON task EXECUTE FUNCTION suppress_redundant_updates_trigger()",
)
"""What no role may do, nor all of them together."""


def test_every_call_is_made_here(backend: Backend) -> None:
    """A new one has to be given to somebody; waiting is looking, again and again."""
    repository = backend.repository(register=False)
    calls = {name for name in dir(repository) if not name.startswith("_")} - {"owner", "wait"}
    assert calls == {name.partition(" ")[0] for name in CALLS}


@pytest.mark.parametrize("roles", ALLOWED, ids="+".join)
def test_a_role_may_do_what_it_is_for_and_no_more(backend: Backend, accounts: Accounts, roles: tuple[str, ...]) -> None:
    """Each call is made, and undone, by a user who has the roles; the topic was made after them."""
    account = accounts.user(*roles)
    with backend.begin() as tx:
        scene = set_up(account.repository, tx)

    def may(name: str) -> bool:
        return account.may(lambda tx: CALLS[name](account.repository, tx, scene))

    done = {name for name in CALLS if may(name)}
    assert sorted(done - ALLOWED[roles]) == []
    assert sorted(ALLOWED[roles] - done) == []


def test_a_user_without_a_role_sees_no_more_than_that_there_is_something(backend: Backend, accounts: Accounts) -> None:
    """No call is allowed."""
    account = accounts.user()
    with backend.begin() as tx:
        scene = set_up(account.repository, tx)
    assert [name for name in CALLS if account.may(lambda tx, n=name: CALLS[n](account.repository, tx, scene))] == []  # type: ignore[misc]


def test_no_role_may_change_the_schema_or_what_a_task_is_about(backend: Backend, accounts: Accounts) -> None:
    """Not even with SQL of its own, past the library."""
    account = accounts.user(*schema.ROLES)
    with backend.begin() as tx:
        set_up(account.repository, tx)
    may = [
        statement
        for statement in FORBIDDEN
        if account.may(lambda tx, text=statement: tx.execute(text.encode()))  # type: ignore[misc]
    ]
    assert may == []


@pytest.mark.parametrize("call", [schema.install, schema.upgrade, schema.uninstall])
def test_an_operator_may_not_install(backend: Backend, accounts: Accounts, call: Callable[[object], object]) -> None:
    """What changes the tables is left to their owner, where there is something to change."""
    account = accounts.user("operator")
    if call is not schema.uninstall:
        backend.sql("UPDATE task_schema SET version = 1")
    if call is schema.install:
        with backend.begin() as tx:
            schema.uninstall(tx)
    assert not account.may(call)


def test_partitions_can_not_be_reached_past_the_table(backend: Backend, accounts: Accounts) -> None:
    """Nobody has rights on a partition itself."""
    account = accounts.user(*schema.ROLES)
    with backend.begin() as tx:
        set_up(account.repository, tx)
    found = backend.sql("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'task'::regclass")
    assert len(found) == (1 if backend.partitioned else 0)
    for (partition,) in found:
        statement = f"SELECT 1 FROM {partition}"  # noqa: S608 - the database's
        assert not account.may(lambda tx, text=statement: tx.execute(text.encode()))  # type: ignore[misc]


def test_producer_and_worker_together_move_a_task_through(backend: Backend, accounts: Accounts) -> None:
    """From the push to the count, with commits between, each with its own rights; through SQLAlchemy too."""
    producer, worker, operator = accounts.user("producer"), accounts.user("worker"), accounts.user("operator")
    with backend.begin() as tx:
        producer.repository.initialize(tx, TOPIC)
    with producer.begin() as tx:
        producer.repository.push_many(tx, TOPIC, {"a": "input", "b": None}, insertion=Insertion.REPLACE)
    engine = create_engine(worker.url)
    with engine.begin() as session:
        worker.repository.register(session)
        tasks = worker.repository.poll_many(session, TOPIC, 2)
    with engine.begin() as session:
        worker.repository.complete_many(session, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
        worker.repository.push(session, TOPIC, "follow-up")
    engine.dispose()
    with producer.begin() as tx:
        counts = producer.repository.count(tx)[TOPIC]
    assert {state: summary.count for state, summary in counts.items()} == {TaskState.SUCCEEDED: 2, TaskState.READY: 1}
    with operator.begin() as tx:
        assert operator.repository.purge(tx, TOPIC) == 2


def test_a_refusal_says_what_was_refused_and_leaves_the_transaction_to_be_rolled_back(
    backend: Backend, accounts: Accounts
) -> None:
    """Nothing of it is committed; a savepoint of the caller's saves what was before."""
    account = accounts.user("producer")
    with backend.begin() as tx:
        account.repository.initialize(tx, TOPIC)
    with psycopg.connect(account.dsn) as tx:
        account.repository.push(tx, TOPIC, "lost")
        with pytest.raises(AccessError, match=r"may not do this: permission denied for table task_owner$") as caught:
            account.repository.poll(tx, TOPIC)
        assert is_refusal(caught.value)
        assert tx.info.transaction_status is psycopg.pq.TransactionStatus.INERROR
        tx.commit()  # which is a rollback, as PostgreSQL has it
        account.repository.push(tx, TOPIC, "kept")
        with pytest.raises(AccessError, match="permission denied"), tx.transaction():
            account.repository.purge(tx, TOPIC)
        tx.commit()
    assert _identifiers(backend) == ["kept"]


def test_a_refusal_on_a_connection_that_commits_by_itself_leaves_nothing_open(
    backend: Backend, accounts: Accounts
) -> None:
    """The call was its own transaction, and is undone as a whole."""
    account = accounts.user("producer")
    with backend.begin() as tx:
        account.repository.initialize(tx, TOPIC)
        account.repository.push(tx, TOPIC, "a")
    with psycopg.connect(account.dsn, autocommit=True) as connection:
        with pytest.raises(AccessError, match="permission denied"):
            account.repository.push_many(connection, TOPIC, ["a"], insertion=Insertion.DELETE)
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
    assert _identifiers(backend) == ["a"]


def test_a_refusal_through_sqlalchemy_is_told_as_well(backend: Backend, accounts: Accounts) -> None:
    """With the same words, and the connection is of use after a rollback."""
    account = accounts.user("producer")
    with backend.begin() as tx:
        account.repository.initialize(tx, TOPIC)
    engine = create_engine(account.url)
    with engine.connect() as connection:
        with pytest.raises(AccessError, match=r"permission denied for table task_owner$") as caught:
            account.repository.poll(connection, TOPIC)
        assert is_refusal(caught.value)
        connection.rollback()
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    engine.dispose()


def _identifiers(backend: Backend) -> list[Any]:
    return [identifier for (identifier,) in backend.sql("SELECT identifier FROM task ORDER BY sequence")]
