"""
What waiting for others costs: nothing where nobody waits, and little where a hundred thousand do.

Each statement that a call executes is explained, inside of functions too, as in ``test_plans``.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import sqlalchemy

from task_api import (
    Dependency,
    Insertion,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskResult,
    TaskState,
    chord,
)
from task_sql import PostgresTaskRepository
from tests.backends.steps import poll, push
from tests.sql.explaining import explained
from tests.sql.recording import sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.backends.provision import PostgresProvision
    from tests.sql.explaining import Cost

TOPIC = "topic"
HALF = 50_000
BATCH = 10
PAGES = 1_000
"""More than any call needs that goes by indexes; the table of links alone has more."""
_TASKS = """
INSERT INTO task (topic, sequence, identifier, state, awaited)
SELECT 'topic', i, 'first-' || i, CASE WHEN i <= 20000 THEN 6 ELSE 1 END, true FROM generate_series(1, 50000) AS i;
INSERT INTO task (topic, sequence, identifier, state, waits, on_abort, awaited)
SELECT 'topic', i, 'last-' || i, 4, 1, 0, true FROM generate_series(50001, 100000) AS i;
INSERT INTO task_dependency (run_topic, run_sequence, after_topic, after_sequence, signal)
SELECT 'topic', 50000 + i, 'topic', a, CASE WHEN a <= 20000 THEN 1 ELSE 0 END
FROM generate_series(1, 50000) AS i CROSS JOIN LATERAL (VALUES (i), (1 + i % 50000)) AS g (a);
SELECT setval('task_sequence', 100000);
"""


class Subject:
    """A database with a hundred thousand tasks, half of which wait for two of the others each."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.repository = PostgresTaskRepository("me")
        self.repository.register(connection)
        self.repository.initialize(connection, TOPIC)
        connection.commit()
        connection.execute(_TASKS)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM (FREEZE, ANALYZE) task, task_dependency")
        connection.autocommit = False

    def cost(self, call: Callable[[PostgresTaskRepository, Any], object]) -> Cost:
        """Explain the statements of a call, and undo it."""
        with explained(self.connection) as cost:
            call(self.repository, self.connection)
        self.connection.rollback()
        return cost


@pytest.fixture(scope="module", params=[True, False], ids=["partitioned", "plain"])
def subject(request: pytest.FixtureRequest, postgresql_provision: PostgresProvision) -> Iterator[Subject]:
    """The database."""
    with postgresql_provision.create(partitioned=request.param) as created:
        url = sqlalchemy.make_url(created).set(drivername="postgresql")
        with closing(psycopg.connect(url.render_as_string(hide_password=False))) as connection:
            yield Subject(connection)


def ref(sequence: int) -> TaskRef:
    """One of the tasks."""
    return TaskRef(TOPIC, sequence)


def _complete(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    task = repository.poll(tx, TOPIC)
    assert task is not None
    repository.complete(tx, TOPIC, task)


def _complete_many(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.complete_many(tx, TOPIC, dict.fromkeys(repository.poll_many(tx, TOPIC, BATCH), TaskDecision.SUCCESS))


def _fail(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.complete_many(tx, TOPIC, dict.fromkeys(repository.poll_many(tx, TOPIC, 3), TaskDecision.FAILURE))


def _push(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.push(tx, TOPIC, TaskCreation("new", after=(ref(40_000), ref(40_001), ref(77_777))))


def _push_graph(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.push_graph(tx, TOPIC, chord([TaskCreation("a", after=(ref(40_000),)), "b"], "c"))


def _depend(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.depend(tx, [Dependency(ref(99_000), ref(30_000)), Dependency(ref(40_000), ref(30_000))])


def _look(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    assert repository.predecessors(tx, ref(99_000))
    assert repository.dependents(tx, ref(49_000))


def _recreate(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.recreate(tx, TOPIC, Revivification.APPEND, [Task(99_000, "last-99000")])


def _reset(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.recreate(tx, TOPIC, Revivification.RESET, [Task(10, "first-10"), Task(99_000, "last-99000")])


def _reassign(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.reassign(tx, TOPIC, {Task(99_000, "last-99000"): TaskResult.SUCCESS})


def _replace(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.push_many(tx, TOPIC, ["first-30000", "last-99000"], insertion=Insertion.REPLACE)


def _delete(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    repository.push_many(tx, TOPIC, ["first-30000", "last-99000"], insertion=Insertion.DELETE)


def _purge(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    assert repository.purge(tx, TOPIC, first=11, last=20) == BATCH


def _reassign_all(repository: PostgresTaskRepository, tx: Any) -> None:  # noqa: ANN401
    assert (
        repository.reassign_all(tx, TOPIC, TaskState.SUSPENDED, TaskResult.FAILURE, first=99_000, last=99_009) == BATCH
    )


CALLS = [
    _complete,
    _complete_many,
    _fail,
    _push,
    _push_graph,
    _depend,
    _look,
    _recreate,
    _reset,
    _reassign,
    _replace,
    _delete,
    _purge,
    _reassign_all,
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__[1:])
def test_no_call_reads_all_links(subject: Subject, call: Callable[[PostgresTaskRepository, Any], object]) -> None:
    """Each goes from the tasks that it is about to their links by indexes (S1-14)."""
    subject.cost(call)  # functions are planned, which takes pages of the catalogue
    cost = subject.cost(call)
    assert cost.scans == []
    assert cost.pages < PAGES


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("connection")
def test_a_decision_costs_no_further_statement_where_nobody_waits(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Also if others of the topic are waited for: the decision itself tells (S1-10)."""
    push(backend, repository, topic, *map(str, range(20)))
    [first, *rest] = poll(backend, repository, topic, 20)
    with backend.begin() as tx:
        repository.push(tx, topic, TaskCreation("task", after=(first,)))
        repository.push(tx, topic, "warm")
    with sent(backend) as statements:
        with backend.begin() as tx:
            repository.complete(tx, topic, rest.pop())
        assert len(statements) == 1
        with backend.begin() as tx:
            repository.complete(tx, topic, rest.pop(), TaskDecision.failure("no"))
        assert len(statements) == 2
        with backend.begin() as tx:
            repository.complete_many(tx, topic, dict.fromkeys(rest, TaskDecision.SUCCESS))
        assert len(statements) == 3
        with backend.begin() as tx:
            repository.push(tx, topic, "one")
        assert len(statements) == 4
        with backend.begin() as tx:
            repository.complete(tx, topic, first)
        assert len(statements) > 5


@pytest.mark.backends("sqlite")
@pytest.mark.kinds("connection")
def test_a_decision_looks_once_whether_anybody_waits(
    backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """On SQLite, where a statement is a call of a function; if nobody ever waited, it finds an empty table (S1-10)."""
    push(backend, repository, topic, *map(str, range(20)))
    [first, *rest] = poll(backend, repository, topic, 20)
    with sent(backend) as statements:
        with backend.begin() as tx:
            repository.complete(tx, topic, first)
        begun = [statement for statement in statements if not statement.startswith("BEGIN")]
        assert [statement.split()[0] for statement in begun] == ["UPDATE", "SELECT"]
        statements.clear()
        with backend.begin() as tx:
            repository.complete_many(tx, topic, dict.fromkeys(rest, TaskDecision.SUCCESS))
        assert sum("task_dependency" in statement for statement in statements) == 1
    assert TaskState.SUCCEEDED in {task.state for task in _all(backend, repository, topic)}


def _all(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Any]:
    with backend.begin() as tx:
        return list(repository.page(tx, topic))
