"""Every kind of transaction that people have; the library neither commits nor rolls it back (P7)."""

import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar, TypeAlias

import oracledb
import psycopg
import pytest
import sqlalchemy
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from task_api import (
    Condition,
    Dependency,
    Insertion,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskRepository,
    TaskResult,
    TaskState,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
    chain,
)
from task_sql import SqliteTaskRepository, create_engine
from tests.backends import Backend, Transaction
from tests.backends.steps import poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository, one_of_each, run

Opener: TypeAlias = Callable[[Backend], AbstractContextManager[Transaction]]
Begin: TypeAlias = Callable[[], AbstractContextManager[Transaction]]
HOUR = timedelta(hours=1)
TABLES = ("task", "task_topic", "task_owner", "task_activation")

driver_columns = pytest.mark.kinds("driver")


# --- the kinds -------------------------------------------------------------------------------------------


@contextmanager
def connection(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy connection."""
    with backend.engine.connect() as tx:
        yield tx


@contextmanager
def session(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy session."""
    with Session(backend.engine) as tx:
        yield tx


@contextmanager
def scoped(backend: Backend) -> Iterator[Any]:
    """A registry of sessions, as web applications have."""
    registry = scoped_session(sessionmaker(backend.engine))
    yield registry
    registry.remove()


@contextmanager
def foreign_engine(backend: Backend) -> Iterator[Any]:
    """A connection of an engine that is not set up by the library."""
    engine = sqlalchemy.create_engine(backend.url)
    with engine.connect() as tx:
        yield tx
    engine.dispose()


@contextmanager
def autocommit_engine(backend: Backend) -> Iterator[Any]:
    """A SQLAlchemy connection in its autocommit mode."""
    with backend.engine.connect() as tx:
        yield tx.execution_options(isolation_level="AUTOCOMMIT")


def driver(begin: str | None = None, row_factory: Any = None, **options: Any) -> Opener:  # noqa: ANN401
    """A connection of the driver itself, by the options of its connect."""

    @contextmanager
    def opened(backend: Backend) -> Iterator[Any]:
        if backend.name == "oracle":
            with closing(backend.connect()) as tx:
                tx.autocommit = options.get("autocommit", False)
                yield tx
            return
        connect: Any = sqlite3.connect if backend.name == "sqlite" else psycopg.connect
        with closing(connect(backend.dsn, **options)) as tx:
            if row_factory:
                tx.row_factory = row_factory
            if begin:
                tx.execute(begin)
            yield tx

    return opened


ERRORS = (sqlite3.Error, psycopg.Error, oracledb.Error, sqlalchemy.exc.DBAPIError)
COMMON: dict[str, Opener] = {
    "connection": connection,
    "session": session,
    "scoped_session": scoped,
    "foreign engine": foreign_engine,
    "driver": driver(),
}
SQLITE: dict[str, Opener] = COMMON | {
    "immediate": driver(isolation_level="IMMEDIATE"),
    "explicit begin": driver("BEGIN", isolation_level=None),
    "explicit begin immediate": driver("BEGIN IMMEDIATE", isolation_level=None),
    "named rows and types": driver(row_factory=sqlite3.Row, detect_types=sqlite3.PARSE_DECLTYPES),
}
POSTGRESQL: dict[str, Opener] = COMMON | {
    "explicit begin": driver("BEGIN", autocommit=True),
    "dict rows": driver(row_factory=dict_row),
    "unprepared": driver(prepare_threshold=None),
    "prepared at once": driver(prepare_threshold=0),
}
ORACLE: dict[str, Opener] = COMMON
SQLITE_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "isolation level None": driver(isolation_level=None),
}
ORACLE_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "autocommit": driver(autocommit=True),
}
POSTGRESQL_AUTOCOMMIT: dict[str, Opener] = {
    "autocommit engine": autocommit_engine,
    "autocommit": driver(autocommit=True),
}
if sys.version_info >= (3, 12):
    SQLITE |= {
        "autocommit off": driver(autocommit=False),
        "autocommit on, explicit begin": driver("BEGIN", autocommit=True),
    }
    SQLITE_AUTOCOMMIT |= {"autocommit on": driver(autocommit=True)}


def end(tx: Transaction, how: str) -> None:
    """COMMIT or ROLLBACK in the way that the kind wants it."""
    if isinstance(tx, sqlite3.Connection) and getattr(tx, "autocommit", None) is True:
        tx.execute(how)  # commit() and rollback() do nothing in this mode
    else:
        getattr(tx, how.lower())()


# --- the scene -------------------------------------------------------------------------------------------


def dump(backend: Backend) -> dict[str, list[str]]:
    """Everything that others see of the tables."""
    return {table: sorted(map(repr, backend.sql(f"SELECT * FROM {table}"))) for table in TABLES}  # noqa: S608


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


def every_call(  # noqa: PLR0915 - as many as there are
    repository: Repository, tx: Transaction, topic: str, tasks: dict[TaskState, Task]
) -> Iterator[str]:
    """Make every call of a repository, one after the other, and tell after each which it was."""
    repository.register(tx)
    yield "register"
    repository.heartbeat(tx)
    yield "heartbeat"
    repository.initialize(tx, "new")
    yield "initialize"
    repository.push(tx, "new", "a", insertion=Insertion.REPLACE)
    yield "push"
    pushed = repository.push_many(tx, topic, ["a", "b"])
    yield "push_many"
    held = [repository.poll(tx, topic)]
    yield "poll"
    held += repository.poll_many(tx, topic, 3)
    yield "poll_many"
    first, second, third, fourth = (task for task in held if task)
    repository.complete(tx, topic, first)
    yield "complete"
    repository.complete_many(tx, topic, {second: TaskDecision.FAILURE})
    yield "complete_many"
    repository.checkpoint(tx, topic, third, "so far")
    yield "checkpoint"
    repository.extend(tx, topic, [third], HOUR)
    yield "extend"
    repository.release(tx, topic, [third])
    yield "release"
    repository.eject(tx, topic, fourth)
    yield "eject"
    assert repository.promote(tx, topic) == 1
    yield "promote"
    repository.next_due(tx, topic)
    yield "next_due"
    early, late = (TaskRef(topic, task.sequence) for task in repository.push_graph(tx, topic, chain("x", "y")))
    yield "push_graph"
    repository.depend(tx, [Dependency(TaskRef(topic, third.sequence), late)])
    yield "depend"
    assert repository.predecessors(tx, late) == [early]
    yield "predecessors"
    assert repository.dependents(tx, early) == [late]
    yield "dependents"
    assert repository.poll_between(tx, topic, "x", "y") is not None
    yield "poll_between"
    assert [info.identifier for info in repository.between(tx, topic, "x", None)] == ["x", "y"]
    yield "between"
    repository.recreate(tx, topic, Revivification.REPLACE, [tasks[TaskState.FILTERED]])
    yield "recreate"
    repository.recreate_state(tx, topic, Revivification.RESET, TaskState.FAILED)
    yield "recreate_state"
    repository.reassign(tx, topic, {tasks[TaskState.SUCCEEDED]: TaskResult.FILTER}, message="why")
    yield "reassign"
    repository.reassign_all(tx, topic, TaskState.EXPIRED, TaskResult.SUCCESS)
    yield "reassign_all"
    assert repository.junction(tx, topic, [["SUSPENDED"]]) == {"SUSPENDED"}
    yield "junction"
    assert repository.expire(tx, HOUR) == 1
    yield "expire"
    assert repository.purge_owners(tx, HOUR) == 1
    yield "purge_owners"
    assert repository.owners(tx, HOUR) == set()
    yield "owners"
    repository.activate(tx, topic, active=True)
    yield "activate"
    assert repository.activation(tx, topic) is True
    yield "activation"
    assert repository.topics(tx) == {topic, "doomed", "new"}
    yield "topics"
    assert repository.task(tx, topic, pushed[0].sequence) == pushed[0]
    yield "task"
    assert set(pushed) < set(repository.page(tx, topic))
    yield "page"
    assert repository.count(tx)["new"][TaskState.READY].count == 1
    yield "count"
    assert repository.results(tx)["new"] == {}
    yield "results"
    assert repository.resolve(tx, datetime(2001, 1, 1, tzinfo=UTC)) > 0
    yield "resolve"
    repository.refresh(tx)
    yield "refresh"
    assert repository.purge(tx, topic) > 0
    yield "purge"
    repository.purge_all(tx, topic)
    yield "purge_all"
    assert repository.destroy(tx, "doomed") is True
    yield "destroy"
    repository.push(tx, topic, "last")


# --- the tests -------------------------------------------------------------------------------------------


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


def in_transaction(tx: Transaction) -> bool:
    """Whether the driver's connection has a transaction open."""
    raw: Transaction = tx.connection.driver_connection if isinstance(tx, sqlalchemy.Connection) else tx
    if isinstance(raw, sqlite3.Connection):
        return raw.in_transaction
    if hasattr(raw, "transaction_in_progress"):
        return bool(raw.transaction_in_progress)
    return bool(raw.info.transaction_status != TransactionStatus.IDLE)


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


@pytest.mark.backends("postgresql")
@driver_columns
def test_a_pipeline_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """In psycopg's pipeline mode nobody could tell whether a task was held; outside of it all is well (P2, P7)."""
    push(backend, repository, topic, "a")
    (held,) = poll(backend, repository, topic)

    with closing(psycopg.connect(backend.dsn)) as tx:
        with tx.pipeline(), pytest.raises(InvalidTaskError, match="pipeline"):
            repository.complete(tx, topic, held)
        repository.complete(tx, topic, held)
        tx.commit()

    assert states(backend, repository, topic) == {held.sequence: TaskState.SUCCEEDED}


@pytest.mark.backends("postgresql")
@driver_columns
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_old_snapshots_are_refused_where_they_would_lie(
    backend: Backend, repository: Repository, topic: str, level: str
) -> None:
    """What waits for others must see what they left; plain pushes, polls and decisions go on (P4, P5, P6)."""
    with backend.begin() as tx:
        tx.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        task = repository.push(tx, topic, "a")
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.push(tx, topic, "a", insertion=Insertion.REPLACE)
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.junction(tx, topic, [{"a"}])
        with pytest.raises(InvalidTaskError, match=f"READ COMMITTED.*{level}"):
            repository.poll(tx, topic, condition=Condition.SINGULAR_BY_IDENTIFIER)
        held = repository.poll(tx, topic)
        assert held is not None
        repository.complete(tx, topic, held)

    assert states(backend, repository, topic) == {task.sequence: TaskState.SUCCEEDED}


@pytest.mark.backends("sqlite")
@driver_columns
def test_the_engine_sets_sqlite_up(backend: Backend, repository: Repository, topic: str) -> None:
    """Readers do not wait for the log, writers wait for each other, foreign keys count (DESIGN 3)."""
    with backend.engine.connect() as tx:
        pragmas = {name: tx.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "foreign_keys")}
        waiting = tx.exec_driver_sql("PRAGMA busy_timeout").scalar()

    assert pragmas == {"journal_mode": "wal", "foreign_keys": 1}
    assert (waiting or 0) >= 5_000
    with ThreadPoolExecutor() as executor, backend.engine.begin() as first:
        assert in_transaction(first)  # as a writer, before any statement
        second = executor.submit(push, backend, repository, topic, "second")
        repository.push(first, topic, "first")
        first.commit()
        assert len(second.result(TIMEOUT)) == 1


@pytest.mark.parametrize("url", ["postgresql://host/name", "postgresql+psycopg://host/name"])
def test_a_plain_postgresql_url_means_psycopg(url: str) -> None:
    """Nobody has to know the names of drivers (DESIGN 3)."""
    engine = create_engine(url)

    assert (engine.dialect.name, engine.dialect.driver) == ("postgresql", "psycopg")


def closed_connection(backend: Backend) -> object:
    """A SQLAlchemy connection that was closed."""
    tx = backend.engine.connect()
    tx.close()
    return tx


def closed_driver_connection(backend: Backend) -> object:
    """A connection of the driver that was closed."""
    tx = backend.connect()
    tx.close()
    return tx


def cursor(_backend: Backend) -> object:
    """A cursor instead of its connection."""
    with closing(sqlite3.connect(":memory:")) as tx:
        return tx.cursor()


WRONG: dict[str, tuple[Callable[[Backend], object], str]] = {
    "engine": (lambda backend: backend.engine, r"Engine.*engine\.begin\(\)"),
    "url": (lambda backend: backend.url, "str"),
    "none": (lambda _: None, "NoneType"),
    "sessionmaker": (lambda backend: sessionmaker(backend.engine), "sessionmaker"),
    "class": (lambda _: sqlalchemy.Connection, "type"),
    "unbound session": (lambda _: Session(), "bound|bind"),
    "cursor": (cursor, "Cursor"),
    "closed connection": (closed_connection, "closed"),
    "closed driver connection": (closed_driver_connection, "closed|open one"),
}


@driver_columns
@pytest.mark.parametrize(("make", "says"), WRONG.values(), ids=WRONG)
def test_what_is_no_transaction_is_refused(
    backend: Backend, repository: Repository, topic: str, make: Callable[[Backend], object], says: str
) -> None:
    """The error says what was passed, or what is wrong with it, and what to pass instead (P7)."""
    tx: Transaction = make(backend)

    for call in (
        lambda: repository.register(tx),
        lambda: repository.push(tx, topic, "a"),
        lambda: repository.push(tx, topic, TaskCreation("a"), insertion=Insertion.REPLACE),
        lambda: repository.poll(tx, topic),
        lambda: repository.page(tx, topic),
    ):
        with pytest.raises(InvalidTaskError, match=says):
            call()


@driver_columns
def test_an_async_connection_is_refused(backend: Backend, repository: Repository) -> None:
    """The error tells about AsyncTaskRepository (P7)."""
    tx: Transaction = create_async_engine(asynchronous(backend.url)).connect()

    with pytest.raises(InvalidTaskError, match="AsyncTaskRepository"):
        repository.topics(tx)


def asynchronous(url: str) -> str:
    """The same database for an asynchronous engine."""
    return url.replace("sqlite://", "sqlite+aiosqlite://")


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("connection", "session", "driver")
def test_a_connection_of_another_database_is_refused(backend: Backend, repository: Repository) -> None:
    """A repository speaks to its own kind of database alone, whichever way it is reached (P7)."""
    sqlite = SqliteTaskRepository("me")
    elsewhere = sqlalchemy.create_engine("sqlite://")
    wrong: Any = sqlite

    with backend.begin() as tx, pytest.raises(InvalidTaskError, match="sqlite"):
        wrong.topics(tx)
    with elsewhere.connect() as other, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(other)
    with Session(elsewhere) as other_session, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(other_session)
    with closing(sqlite3.connect(":memory:")) as raw, pytest.raises(InvalidTaskError, match="postgresql"):
        repository.topics(raw)
    elsewhere.dispose()


@pytest.mark.backends("sqlite")
@driver_columns
def test_a_sqlite_connection_of_another_thread_is_refused(backend: Backend, repository: Repository) -> None:
    """The driver would refuse it too; the error says so before anything runs (P7)."""
    made: list[sqlite3.Connection] = []
    done = threading.Event()

    def make() -> None:
        made.append(sqlite3.connect(backend.dsn))
        done.wait(TIMEOUT)
        made[0].close()

    thread = threading.Thread(target=make)
    thread.start()
    try:
        while not made:
            thread.join(0.01)
        with pytest.raises(InvalidTaskError, match="thread"):
            repository.topics(made[0])
    finally:
        done.set()
        thread.join(TIMEOUT)
