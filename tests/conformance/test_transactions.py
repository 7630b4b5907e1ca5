"""Every kind of transaction that people have; the library neither commits nor rolls it back (P7)."""

from contextlib import closing
from functools import partial
from typing import ClassVar

import psycopg
import pytest

from task_api import (
    Insertion,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskDecision,
    TaskRepository,
    TaskResult,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)
from tests.backends import Backend
from tests.backends.steps import poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run
from tests.conformance.transactions import (
    ERRORS,
    HOUR,
    ORACLE,
    ORACLE_AUTOCOMMIT,
    POSTGRESQL,
    POSTGRESQL_AUTOCOMMIT,
    SQLITE,
    SQLITE_AUTOCOMMIT,
    Begin,
    Opener,
    driver_columns,
    dump,
    end,
    every_call,
    in_transaction,
)


@pytest.fixture
def tasks(backend: Backend, repository: Repository, topic: str) -> dict[TaskState, Task]:
    """One task in each state; also a due task, another topic, and owners that are silent."""
    tasks = one_of_each(backend, repository, topic)
    push(backend, repository, topic, "due", due=-HOUR)
    push(backend, repository, topic, *(f"waiting-{n}" for n in range(9)))
    run(backend, repository.initialize, "doomed")
    push(backend, repository, "doomed", "a")
    ghost = backend.repository("ghost")
    poll(backend, ghost, "doomed")
    for owner in ("ghost", backend.repository("idle").owner):
        backend.age_owner(owner, 7200)
    return tasks


class EveryKind:
    """What holds for every kind of transaction."""

    kinds: ClassVar[dict[str, Opener]]

    @pytest.fixture
    def opener(self, kind: str, backend: Backend) -> Begin:
        """Opens a transaction of the kind."""
        return partial(self.kinds[kind], backend)

    def test_a_rollback_undoes_every_call(
        self, backend: Backend, repository: Repository, topic: str, tasks: dict[TaskState, Task], opener: Begin
    ) -> None:
        """No call commits: others see nothing of any, before the rollback and after it (P7, IN-15)."""
        before = dump(backend)
        seen = set()

        with opener() as tx:
            for call in every_call(repository, tx, topic, tasks):
                assert dump(backend) == before, call
                seen.add(call)
            end(tx, "ROLLBACK")

        assert dump(backend) == before
        # A wait opens transactions of its own.
        assert seen == {name for name in dir(TaskRepository) if not name.startswith("_")} - {"owner", "wait"}

    def test_a_commit_keeps_every_call(
        self, backend: Backend, repository: Repository, topic: str, tasks: dict[TaskState, Task], opener: Begin
    ) -> None:
        """No call rolls back: all of them are there once the caller has committed (P7)."""
        with opener() as tx:
            assert len(list(every_call(repository, tx, topic, tasks))) > 30
            end(tx, "COMMIT")

        assert list(states(backend, repository, topic).values()) == [TaskState.READY]
        assert run(backend, repository.topics) == {topic, "new"}
        assert set(backend.sql("SELECT owner FROM task_owner")) == {("me",), ("ghost",)}
        assert run(backend, repository.activation, topic) is True

    def test_foreseen_errors_leave_it_usable(
        self, backend: Backend, repository: Repository, topic: str, opener: Begin
    ) -> None:
        """After each of them the same transaction goes on, and nothing of the refused calls is kept (P7)."""
        (ready,) = push(backend, repository, topic, "ready")
        stranger = backend.repository("stranger", register=False)

        with opener() as tx:
            before = repository.push(tx, topic, "before")
            with pytest.raises(UnknownTopicError):
                repository.push_many(tx, "nowhere", ["a", "b"], insertion=Insertion.REPLACE)
            with pytest.raises(UnknownOwnerError):
                stranger.poll(tx, topic)
            with pytest.raises(UnknownOwnerError):
                stranger.heartbeat(tx)
            with pytest.raises(LostTaskError):
                repository.complete(tx, topic, ready)
            with pytest.raises(TaskStateError):
                repository.recreate(tx, topic, Revivification.REPLACE, [ready])
            with pytest.raises(InvalidTaskError):
                repository.push(tx, topic, "x" * 501)
            after = repository.push(tx, topic, "after")
            end(tx, "COMMIT")

        expected = dict.fromkeys([ready.sequence, before.sequence, after.sequence], TaskState.READY)
        assert states(backend, repository, topic) == expected

    def test_nothing_is_remembered_of_what_was_rolled_back(
        self, backend: Backend, repository: Repository, topic: str, opener: Begin
    ) -> None:
        """Topics, owners, destructions and claims that never happened have no effect (P7, PO-17)."""
        pushed = push(backend, repository, topic, *"abc")
        fresh = backend.repository("fresh", register=False)

        with opener() as tx:
            fresh.register(tx)
            assert fresh.poll_many(tx, topic, 2) == pushed[:2]
            fresh.initialize(tx, "new")
            fresh.push(tx, "new", "a")
            fresh.destroy(tx, topic)
            end(tx, "ROLLBACK")

        with pytest.raises(UnknownOwnerError):
            poll(backend, fresh, topic)
        with pytest.raises(UnknownTopicError):
            push(backend, fresh, "new", "a")
        run(backend, fresh.register)
        assert poll(backend, fresh, topic, 2) == pushed[:2]
        push(backend, fresh, topic, "d")


@driver_columns
@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("kind", SQLITE)
class TestSqliteKinds(EveryKind):
    """SQLite, through SQLAlchemy and through sqlite3 in each of its modes."""

    kinds = SQLITE


@driver_columns
@pytest.mark.backends("postgresql")
@pytest.mark.parametrize("kind", POSTGRESQL)
class TestPostgresqlKinds(EveryKind):
    """PostgreSQL, through SQLAlchemy and through psycopg."""

    kinds = POSTGRESQL


@driver_columns
@pytest.mark.backends("oracle")
@pytest.mark.parametrize("kind", ORACLE)
class TestOracleKinds(EveryKind):
    """Oracle, through SQLAlchemy and through python-oracledb."""

    kinds = ORACLE


class EveryAutocommit:
    """What holds for connections without an open transaction: each call is one of its own."""

    kinds: ClassVar[dict[str, Opener]]

    @pytest.fixture
    def opener(self, kind: str, backend: Backend) -> Begin:
        """Opens a connection in autocommit mode."""
        return partial(self.kinds[kind], backend)

    def test_each_call_is_committed_at_once(
        self, backend: Backend, repository: Repository, topic: str, tasks: dict[TaskState, Task], opener: Begin
    ) -> None:
        """Every call works, leaves no transaction open, and its effect is visible when it returns (P7)."""
        before = dump(backend)

        with opener() as tx:
            for call in every_call(repository, tx, topic, tasks):
                assert not in_transaction(tx), call
                if call == "push_many":
                    assert len(dump(backend)["task"]) == len(before["task"]) + 3

        assert list(states(backend, repository, topic).values()) == [TaskState.READY]

    def test_each_call_is_all_or_nothing(
        self, backend: Backend, repository: Repository, topic: str, opener: Begin
    ) -> None:
        """An error in the middle of a call undoes its beginning, foreseen or not (P7)."""
        push(backend, repository, topic, "a", "b", "c")
        held = poll(backend, repository, topic, 2)
        refuse(backend, "cursed")
        before = dump(backend)

        with opener() as tx:
            with pytest.raises(LostTaskError):
                repository.complete_many(tx, topic, dict.fromkeys([*held, Task(99, "x")], TaskDecision.SUCCESS))
            with pytest.raises(TaskStateError):
                repository.reassign(tx, topic, dict.fromkeys(held, TaskResult.SUCCESS))
            with pytest.raises(ERRORS, match=r"(?i)refused"):
                repository.push_many(tx, topic, ["c", "cursed"], insertion=Insertion.REPLACE)
            assert not in_transaction(tx)

        assert dump(backend) == before


def refuse(backend: Backend, identifier: str) -> None:
    """Let the database itself refuse tasks of that identifier."""
    if backend.name == "oracle":
        backend.sql(f"ALTER TABLE task ADD CONSTRAINT refused CHECK (identifier <> '{identifier}')")
        return
    if backend.name == "sqlite":
        action = "BEGIN SELECT RAISE(ABORT, 'refused'); END"
    else:
        function = "BEGIN RAISE EXCEPTION 'refused'; END"
        backend.sql(f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ {function} $$")
        action = "EXECUTE FUNCTION refuse()"
    rows = "FOR EACH ROW WHEN (NEW.identifier = "
    backend.sql(f"CREATE TRIGGER refuse BEFORE INSERT ON task {rows} '{identifier}') {action}")


@driver_columns
@pytest.mark.backends("sqlite")
@pytest.mark.parametrize("kind", SQLITE_AUTOCOMMIT)
class TestSqliteAutocommit(EveryAutocommit):
    """SQLite connections that begin no transaction by themselves."""

    kinds = SQLITE_AUTOCOMMIT


@driver_columns
@pytest.mark.backends("postgresql")
@pytest.mark.parametrize("kind", POSTGRESQL_AUTOCOMMIT)
class TestPostgresqlAutocommit(EveryAutocommit):
    """PostgreSQL connections that begin no transaction by themselves."""

    kinds = POSTGRESQL_AUTOCOMMIT


@driver_columns
@pytest.mark.backends("oracle")
@pytest.mark.parametrize("kind", ORACLE_AUTOCOMMIT)
class TestOracleAutocommit(EveryAutocommit):
    """Oracle connections that commit after each statement."""

    kinds = ORACLE_AUTOCOMMIT


@pytest.mark.kinds("connection", "session")
def test_a_savepoint_undoes_what_came_after_it(backend: Backend, repository: Repository, topic: str) -> None:
    """A nested transaction is rolled back alone; the rest of the transaction stands (P7)."""
    with backend.begin() as tx:
        kept = repository.push(tx, topic, "kept")
        nested = tx.begin_nested()
        repository.push(tx, topic, "kept", insertion=Insertion.REPLACE)
        repository.initialize(tx, "undone")
        nested.rollback()
        with pytest.raises(UnknownTopicError):
            repository.push(tx, "undone", "a")
        assert repository.poll(tx, topic) == kept

    assert states(backend, repository, topic) == {kept.sequence: TaskState.ACTIVE}


@pytest.mark.backends("postgresql")
@driver_columns
def test_psycopg_blocks_nest(backend: Backend, repository: Repository, topic: str) -> None:
    """Calls work inside transaction() blocks, also nested ones that are rolled back (P7)."""
    with closing(psycopg.connect(backend.dsn, autocommit=True)) as tx, tx.transaction():
        kept = repository.push(tx, topic, "kept")
        with tx.transaction(force_rollback=True):
            repository.push(tx, topic, "undone")

    assert list(states(backend, repository, topic)) == [kept.sequence]
