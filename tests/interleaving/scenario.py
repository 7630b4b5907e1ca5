"""What is played, what it begins with, and what it ends in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from task_api import TaskState
from task_sql import PostgresTaskRepository

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import psycopg

    from task_api import TaskRepository
    from tests.interleaving.stage import Outcome, Script

TOPIC = "topic"
_TABLES = ("task_topic", "task_owner", "task", "task_dependency")
_KEEP = "; ".join(f"DROP TABLE IF EXISTS kept_{t}; CREATE TABLE kept_{t} AS TABLE {t}" for t in _TABLES)
_CLEAR = "; ".join(f"DELETE FROM {t}" for t in reversed(_TABLES[1:]))  # noqa: S608 - ours
_REFILL = "; ".join(f"INSERT INTO {t} SELECT * FROM kept_{t}" for t in _TABLES)  # noqa: S608 - ours
_ROWS = """
SELECT sequence, topic, identifier, state, owner, attempt, token, input, output, origin, waits, failed,
due IS NOT NULL, lease IS NOT NULL, completed IS NOT NULL FROM task ORDER BY sequence
"""
_LINKS = "SELECT run_sequence, after_sequence, signal FROM task_dependency ORDER BY 1, 2"
_SINGULAR = "SELECT identifier FROM task WHERE state = 0 GROUP BY topic, identifier HAVING count(*) > 1"


@dataclass(frozen=True)
class Row:
    """One task at the end; a task that another was made of is named by its rank."""

    sequence: int
    topic: str
    identifier: str
    state: TaskState
    owner: str | None
    attempt: int
    token: int
    input: str | None
    output: str | None
    origin: int | None
    waits: int | None
    failed: int | None
    due: bool
    lease: bool
    completed: bool


@dataclass(frozen=True)
class End:
    """How a play ended."""

    outcomes: Mapping[str, Outcome]
    rows: tuple[Row, ...]
    links: tuple[tuple[int, int, int], ...]
    afterwards: Mapping[str, Outcome]

    @property
    def state(self) -> object:
        """All that is stored, with ranks instead of sequences, so that plays that drew other numbers can be equal."""
        rank = {row.sequence: place for place, row in enumerate(self.rows)}
        rows = tuple(
            (
                rank[row.sequence],
                rank.get(row.origin or 0),
                *list(vars(row).values())[1:9],
                *list(vars(row).values())[10:],
            )
            for row in self.rows
        )
        return rows, tuple((rank.get(run), rank.get(after), signal) for run, after, signal in self.links)

    def of(self, identifier: str) -> list[Row]:
        """The tasks of an identifier, in their order."""
        return [row for row in self.rows if row.identifier == identifier]

    def states(self, identifier: str) -> list[TaskState]:
        """The states of an identifier's tasks, in their order."""
        return [row.state for row in self.of(identifier)]

    def did(self) -> frozenset[str]:
        """The actors whose scripts returned something."""
        return frozenset(name for name, outcome in self.outcomes.items() if outcome.value)

    def values(self) -> dict[str, object]:
        """What each script returned, or the name of its error."""
        return {
            name: type(outcome.error).__name__ if outcome.error else outcome.value
            for name, outcome in self.outcomes.items()
        }


@dataclass(frozen=True)
class Scenario:
    """Actors, what they find, and what must be true whatever their order was."""

    actors: Mapping[str, Script]
    """What each does, in one transaction or several."""
    judge: Callable[[End], None]
    """Raises an AssertionError for an end that must not be."""
    before: Callable[[TaskRepository[Any], Any], object] = lambda _repository, _tx: None
    """What was there before, done by an owner named "before"; all actors are registered, the topic is initialized."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """The owners of actors that are not their own; all are registered."""
    afterwards: Mapping[str, Script] = field(default_factory=dict)
    """What some actors do when all have come to their end."""
    singular: bool = False
    """Whether no identifier may ever have two ACTIVE tasks."""
    serial: bool = False
    """Whether the end must be one that some order of whole transactions has."""
    large: bool = False
    """Whether there are so many orders that some of them have to do, unless more are asked for."""
    deadlocks: bool = False
    """Whether the database may have to end a deadlock."""


def prepare(admin: psycopg.Connection[Any], scenario: Scenario) -> int:
    """Set the scene for the first time and keep a copy; return the last sequence used."""
    repository = PostgresTaskRepository("before")
    with admin.transaction():
        admin.execute(_CLEAR)
        repository.initialize(admin, TOPIC)
        repository.register(admin)
        for name in {*scenario.actors, *scenario.owners.values()}:
            PostgresTaskRepository(name).register(admin)
    with admin.transaction():
        scenario.before(repository, admin)
    with admin.transaction():
        admin.execute(_KEEP)
    return int(admin.execute("SELECT nextval('task_sequence')").fetchall()[0][0])


def restore(admin: psycopg.Connection[Any], last: int) -> None:
    """Set the scene again, from the copy."""
    # Without parameters it is sent in one piece, and is one transaction.
    statements = [_CLEAR, "DELETE FROM task_topic", _REFILL, f"SELECT setval('task_sequence', {last})"]
    admin.execute("; ".join(statements))


def end_of(admin: psycopg.Connection[Any], outcomes: Mapping[str, Outcome], afterwards: Mapping[str, Outcome]) -> End:
    """Look at the end of a play."""
    stored: list[list[Any]] = [[*row[:3], TaskState(row[3]), *row[4:]] for row in admin.execute(_ROWS)]
    return End(outcomes, tuple(Row(*row) for row in stored), tuple(admin.execute(_LINKS)), afterwards)


def require_singular(admin: psycopg.Connection[Any]) -> None:
    """Insist that no identifier has two ACTIVE tasks now."""
    twice = admin.execute(_SINGULAR).fetchall()
    assert not twice, f"two tasks of {twice[0][0]!r} are ACTIVE at once"
