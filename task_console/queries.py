"""
What an operator asks that the repository does not answer: looks at the tables, which change nothing.

``state + 0`` and ``state`` both occur where one would do: the first leads to PostgreSQL's index, the second to
SQLite's. And what is READY is asked for by itself, because SQLite has it in another index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, column, func, literal, literal_column, or_, select, text, union_all
from sqlalchemy import table as table_clause

from task_api import TaskState
from task_sql.registry import dialect_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime, timedelta

    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.sql.expression import FromClause

__all__ = [
    "Depth",
    "OwnerInfo",
    "Pin",
    "Rate",
    "Suspended",
    "Waiting",
    "active_of",
    "chunk_end",
    "depths",
    "ended_leases",
    "home",
    "now",
    "owners",
    "pins",
    "present",
    "rates",
    "suspended",
    "waiting",
]

_NOW = {
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
    "postgresql": "SELECT statement_timestamp()",
    "oracle": "SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM dual",
}
_HALTED = (TaskState.ACTIVE, TaskState.EXPIRED, TaskState.FAILED, TaskState.SUSPENDED)
"""The states beside READY in which a task may still need somebody."""
_LOOKED_AT = 1000
_NAMED = 500
"""So many tasks are named in a statement."""
_PINS = """
SELECT what, seconds, age, detail FROM (
    SELECT
        'session ' || pid || ' of ' || coalesce(usename, '?')
            || coalesce(' (' || nullif(application_name, '') || ')', '') AS what,
        extract(epoch FROM statement_timestamp() - xact_start) AS seconds,
        age(backend_xmin) AS age,
        coalesce(state, backend_type) || ': ' || left(regexp_replace(query, '\\s+', ' ', 'g'), 80) AS detail
    FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
    AND (datname = current_database() OR datname IS NULL)
    UNION ALL
    SELECT 'prepared transaction ' || gid, extract(epoch FROM statement_timestamp() - prepared), age(transaction),
        'owned by ' || owner
    FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL
    SELECT 'replication slot ' || slot_name, NULL, age(xmin), CASE WHEN active THEN 'active' ELSE 'nobody reads it' END
    FROM pg_replication_slots WHERE xmin IS NOT NULL
) AS pin
WHERE seconds IS NULL OR seconds > :longer
ORDER BY age DESC
LIMIT 5
"""
_COLUMNS = ("topic", "sequence", "identifier", "state", "owner", "created", "polled", "completed", "due", "lease")


def _task() -> FromClause:
    return table_clause("task", *map(column, _COLUMNS))


def _ordinal(state: TaskState) -> ColumnElement[int]:
    """Return the state as it stands in the table: as text, so that partial indexes are found."""
    return literal_column(str(int(state)))


def _ready(task: FromClause) -> ColumnElement[bool]:
    """Be READY."""
    return task.c.state == _ordinal(TaskState.READY)


def _halted(task: FromClause, *states: TaskState) -> ColumnElement[bool]:
    """Be in one of those states, by whichever index knows it."""
    there, values, last = task.c.state, [_ordinal(state) for state in states], _ordinal(_HALTED[-1])
    return and_(
        there.in_(values),
        there <= last,
        there != _ordinal(TaskState.READY),
        (there + 0).in_(values),
        there + 0 <= last,
    )


@dataclass(frozen=True, slots=True)
class Depth:
    """The tasks of a topic in one state."""

    topic: str
    state: TaskState
    count: int
    created: datetime | None
    """When the oldest of them was pushed."""
    polled: datetime | None
    """When the one was claimed that is held longest."""
    due: datetime | None
    """When the first of them is due."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What happened to a topic since a moment."""

    pushed: int
    decided: int


@dataclass(frozen=True, slots=True)
class OwnerInfo:
    """Somebody who claims tasks."""

    owner: str
    heartbeat: datetime | None
    """When it was last heard of; None if it is not registered."""
    registered: datetime | None
    active: int
    """How many tasks it holds."""
    polled: datetime | None
    """Since when it has held the oldest of them."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """The SUSPENDED tasks of a topic by what they wait for."""

    overdue: int
    """Due, but nobody has made them READY."""
    waiting: int
    """Not due yet."""
    endless: int
    """Without a due time: they wait for a junction or an operator."""
    first: datetime | None
    """The earliest due time."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A READY task and the siblings of its identifier that a SINGULAR poll minds."""

    sequence: int
    identifier: str
    active: int | None
    """The first sibling that is ACTIVE."""
    failed: int | None
    """The first sibling that is EXPIRED or FAILED."""
    suspended: int | None
    """The first sibling that is SUSPENDED."""


@dataclass(frozen=True, slots=True)
class Pin:
    """Something that keeps PostgreSQL from removing old row versions."""

    what: str
    """A session, a prepared transaction or a replication slot, by its name."""
    seconds: float | None
    """How long it has done so."""
    age: int
    """How many transactions ago it began."""
    detail: str
    """What it is doing."""


def now(connection: Connection) -> datetime:
    """Return the database's time."""
    value = connection.execute(text(_NOW[connection.dialect.name])).scalar_one()
    moment = dialect_of(connection).read_moment(value)
    assert moment is not None  # noqa: S101 - a clock always has a time
    return moment


def depths(connection: Connection, topics: Collection[str] | None = None) -> list[Depth]:
    """Count the tasks that may still need somebody, by topic and state."""
    task = _task()
    counted = select(
        task.c.topic,
        task.c.state,
        func.count(),
        func.min(task.c.created),
        func.min(task.c.polled),
        func.min(task.c.due),
    ).group_by(task.c.topic, task.c.state)
    if topics is not None:
        counted = counted.where(task.c.topic.in_(topics))
    query = union_all(counted.where(_ready(task)), counted.where(_halted(task, *_HALTED)))
    read = dialect_of(connection).read_moment
    return [
        Depth(topic, TaskState(state), count, read(created), read(polled), read(due))
        for topic, state, count, created, polled, due in connection.execute(query)
    ]


def rates(connection: Connection, since: datetime, topics: Collection[str] | None = None) -> dict[str, Rate]:
    """Count what was pushed and what was decided since a moment, by topic."""
    task = _task()
    # As the database stores it, so that text is compared with text.
    moment = literal(dialect_of(connection).moment(since))
    pushed, decided = task.c.created >= moment, task.c.completed >= moment
    query = (
        select(task.c.topic, func.sum(case((pushed, 1), else_=0)), func.sum(case((decided, 1), else_=0)))
        .where(or_(pushed, decided))
        .group_by(task.c.topic)
    )
    if topics is not None:
        query = query.where(task.c.topic.in_(topics))
    return {topic: Rate(int(pushes), int(decisions)) for topic, pushes, decisions in connection.execute(query)}


def owners(connection: Connection, topics: Collection[str] | None = None) -> list[OwnerInfo]:
    """Return the owners, those without a registration included, and what they hold in these topics."""
    task, owner = _task(), table_clause("task_owner", column("owner"), column("heartbeat"), column("registered"))
    held = (
        select(task.c.owner, func.count(), func.min(task.c.polled))
        .where(_halted(task, TaskState.ACTIVE))
        .group_by(task.c.owner)
    )
    if topics is not None:
        held = held.where(task.c.topic.in_(topics))
    read = dialect_of(connection).read_moment
    holding = {name: (count, read(polled)) for name, count, polled in connection.execute(held)}
    known = [
        OwnerInfo(name, read(heartbeat), read(registered), *holding.pop(name, (0, None)))
        for name, heartbeat, registered in connection.execute(
            select(owner.c.owner, owner.c.heartbeat, owner.c.registered)
        )
    ]
    strangers = [OwnerInfo(name or "?", None, None, *held) for name, held in holding.items()]
    return sorted(known + strangers, key=lambda one: one.owner)


def active_of(connection: Connection, topic: str, owner: str) -> list[int]:
    """Return the sequences of the topic's ACTIVE tasks that an owner holds."""
    task = _task()
    query = select(task.c.sequence).where(task.c.topic == topic, _halted(task, TaskState.ACTIVE), task.c.owner == owner)
    return sorted(connection.execute(query).scalars())


def waiting(connection: Connection, topic: str, number: int = _LOOKED_AT) -> list[Waiting]:
    """Return the first READY tasks of a topic, with the siblings that stand in their way."""
    task = _task()
    ready = (
        select(task.c.sequence, task.c.identifier)
        .where(task.c.topic == topic, _ready(task))
        .order_by(task.c.sequence + 0)
        .limit(number)
        .subquery("ready")
    )

    def sibling(*states: TaskState) -> Any:  # noqa: ANN401 - a scalar subquery
        other = _task().alias("other")
        return (
            select(func.min(other.c.sequence))
            .where(
                other.c.topic == topic,
                other.c.identifier == ready.c.identifier,
                _halted(other, *states),
            )
            .correlate(ready)
            .scalar_subquery()
        )

    query = select(
        ready.c.sequence,
        ready.c.identifier,
        sibling(TaskState.ACTIVE),
        sibling(TaskState.EXPIRED, TaskState.FAILED),
        sibling(TaskState.SUSPENDED),
    ).order_by(ready.c.sequence)
    return [Waiting(*row) for row in connection.execute(query)]


def suspended(connection: Connection, topic: str, moment: datetime) -> Suspended:
    """Count the SUSPENDED tasks of a topic by what they wait for."""
    task = _task()
    passed = task.c.due <= literal(dialect_of(connection).moment(moment))
    query = select(
        func.count(case((passed, 1))),
        func.count(case((task.c.due.is_(None), 1))),
        func.count(),
        func.min(task.c.due),
    ).where(task.c.topic == topic, _halted(task, TaskState.SUSPENDED))
    overdue, endless, total, first = connection.execute(query).one()
    return Suspended(overdue, total - overdue - endless, endless, dialect_of(connection).read_moment(first))


def ended_leases(connection: Connection, topic: str, moment: datetime) -> int:
    """Count the ACTIVE tasks of a topic whose lease has ended."""
    task = _task()
    query = select(func.count()).where(
        task.c.topic == topic,
        _halted(task, TaskState.ACTIVE),
        task.c.lease <= literal(dialect_of(connection).moment(moment)),
    )
    return int(connection.execute(query).scalar_one())


def home(connection: Connection, sequence: int) -> str | None:
    """Return the topic that a sequence is in."""
    task = _task()
    found = connection.execute(select(task.c.topic).where(task.c.sequence == sequence)).scalar()
    return None if found is None else str(found)


def present(connection: Connection, topic: str, sequences: Collection[int]) -> frozenset[int]:
    """Return which of the sequences are in a topic."""
    task = _task()
    given = sorted(sequences)
    found: set[int] = set()
    for start in range(0, len(given), _NAMED):
        chosen = task.c.sequence.in_(given[start : start + _NAMED])
        found.update(connection.execute(select(task.c.sequence).where(task.c.topic == topic, chosen)).scalars())
    return frozenset(found)


def chunk_end(
    connection: Connection, topic: str, states: Collection[TaskState], *, first: int, last: int, size: int
) -> int | None:
    """Return the sequence of the last of the next ``size`` tasks in these states and bounds."""
    task = _task()
    chosen = (
        select(task.c.sequence)
        .where(
            task.c.topic == topic,
            task.c.state.in_([_ordinal(state) for state in sorted(states)]),
            task.c.sequence.between(first, last),
        )
        .order_by(task.c.sequence)
        .limit(size)
        .subquery("chosen")
    )
    found = connection.execute(select(func.max(chosen.c.sequence))).scalar()
    return None if found is None else int(found)


def pins(connection: Connection, longer: timedelta) -> list[Pin]:
    """Return what has kept old row versions from being removed for longer than that, the worst first."""
    if connection.dialect.name != "postgresql":
        return []
    found = connection.execute(text(_PINS), {"longer": longer.total_seconds()})
    return [Pin(what, None if seconds is None else float(seconds), age, detail) for what, seconds, age, detail in found]
