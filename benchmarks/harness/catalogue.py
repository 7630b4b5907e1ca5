"""The queues that take part, and what each can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

__all__ = ["SYSTEMS", "Database", "Role", "Skill", "System"]


class Database(Enum):
    """Where a queue lives."""

    POSTGRESQL = "PostgreSQL"
    SQLITE = "SQLite"


class Role(Enum):
    """What a queue is in the comparison."""

    FLOOR = auto()
    """Hand-written SQL, which the others are divided by."""
    VARIANT = auto()
    """Another way to write that SQL."""
    TOPIQ = auto()
    PART = auto()
    """topiq with a part of its schema taken away."""
    PEER = auto()


class Skill(Enum):
    """What a queue can be asked to do."""

    PUSH = auto()
    BULK = auto()
    DRAIN = auto()
    WORKERS = auto()
    BATCHES = auto()
    LATENCY = auto()
    CHURN = auto()
    HISTORY = auto()
    LISTING = auto()
    SINGULAR = auto()
    REPLACE = auto()
    JUNCTION = auto()
    TOPICS = auto()
    MEMORY = auto()
    PARTS = auto()


@dataclass(frozen=True, eq=False)
class System:
    """A queue, or one way to use it."""

    name: str
    """What it is called in tables."""
    adapter: str
    """Its adapter, as ``module:Class``."""
    database: Database
    role: Role
    skills: frozenset[Skill]
    note: str
    """How it is used and set up."""
    family: str = ""
    """Those of one family share their tables, so that prepared databases serve all of them."""
    venv: str | None = None
    """The environment that it needs, a file in ``requirements``; None for the harness's own."""
    drain: int = 300_000
    """How many tasks it is given to drain: enough for some seconds."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What its adapter is made with."""
    crowded: Mapping[str, Any] = field(default_factory=dict)
    """What it is made with besides where several workers take part."""
    brief: bool = True
    """Whether it takes part in a quick run."""


_COMMON: Final = frozenset({Skill.PUSH, Skill.BULK, Skill.DRAIN, Skill.WORKERS, Skill.LATENCY})
_FAST: Final = _COMMON | {Skill.BATCHES, Skill.CHURN, Skill.HISTORY}
_FLOOR: Final = _FAST | {Skill.LISTING}
_WORKER: Final = _FLOOR | {
    Skill.SINGULAR,
    Skill.REPLACE,
    Skill.JUNCTION,
    Skill.TOPICS,
    Skill.MEMORY,
}
# What is the same whichever way a task is held is measured with one of the two.
_CLAIMING: Final = frozenset(
    {
        Skill.DRAIN,
        Skill.WORKERS,
        Skill.BATCHES,
        Skill.CHURN,
        Skill.HISTORY,
        Skill.SINGULAR,
        Skill.TOPICS,
        Skill.MEMORY,
    }
)
_WORKER_TX: Final = _CLAIMING | {Skill.LATENCY}
_EMBEDDED: Final = frozenset({Skill.CHURN, Skill.BATCHES, Skill.JUNCTION, Skill.REPLACE, Skill.SINGULAR})
"""What is measured on a server only."""


def _topiq(
    name: str, adapter: str, skills: frozenset[Skill], note: str, *, brief: bool = False, **options: Any
) -> list[System]:
    """The same way to use topiq, on each database."""
    crowded = {"crowded": True}
    return [
        System(
            name,
            adapter,
            database,
            Role.TOPIQ,
            usable,
            note,
            family="topiq",
            options=options,
            crowded=crowded,
            brief=brief,
        )
        for database, usable in ((Database.POSTGRESQL, skills), (Database.SQLITE, skills - _EMBEDDED))
    ]


def _part(database: Database, without: str, note: str, *, brief: bool = False) -> System:
    return System(
        f"without {without}",
        "topiq_parts:TopiqParts",
        database,
        Role.PART,
        frozenset({Skill.PARTS}),
        note,
        family=f"topiq without {without}",
        options={"without": without},
        brief=brief,
    )


def _peer(
    name: str, adapter: str, skills: frozenset[Skill], drain: int, note: str, *, venv: str | None = None
) -> System:
    module = adapter.partition(":")[0]
    return System(
        name,
        adapter,
        Database.POSTGRESQL,
        Role.PEER,
        skills,
        note,
        family=name,
        venv=venv or module,
        drain=drain,
        brief=False,
    )


def _small_peer(name: str, adapter: str, skills: frozenset[Skill], drain: int, note: str) -> System:
    return System(
        name,
        adapter,
        Database.SQLITE,
        Role.PEER,
        skills,
        note,
        family=name,
        venv="sqlite",
        drain=drain,
        brief=False,
    )


SYSTEMS: Final[tuple[System, ...]] = (
    System(
        "raw",
        "raw_postgresql:Raw",
        Database.POSTGRESQL,
        Role.FLOOR,
        _FLOOR | {Skill.PARTS},
        "psycopg; COPY; poll and complete 500, two commits; NOTIFY with each single push",
        family="raw",
    ),
    System(
        "raw unnest",
        "raw_postgresql:RawUnnest",
        Database.POSTGRESQL,
        Role.VARIANT,
        frozenset({Skill.BULK}),
        "bulk push by INSERT of an array",
        family="raw",
    ),
    System(
        "raw sqlalchemy",
        "raw_postgresql:RawAlchemy",
        Database.POSTGRESQL,
        Role.VARIANT,
        frozenset({Skill.PUSH, Skill.DRAIN, Skill.WORKERS, Skill.LATENCY}),
        "the same statements in transactions of SQLAlchemy's engine.begin",
        family="raw",
    ),
    System(
        "raw floor",
        "raw_postgresql:RawFloor",
        Database.POSTGRESQL,
        Role.VARIANT,
        frozenset({Skill.CHURN}),
        "each poll starts where the last one ended",
        family="raw",
    ),
    System(
        "raw",
        "raw_sqlite:RawSqlite",
        Database.SQLITE,
        Role.FLOOR,
        (_FLOOR | {Skill.PARTS}) - _EMBEDDED,
        "sqlite3; WAL, synchronous = NORMAL; poll and complete 500, two commits; looks every 5 ms when idle",
        family="raw",
    ),
    System(
        "raw sqlalchemy",
        "raw_sqlite:RawSqliteAlchemy",
        Database.SQLITE,
        Role.VARIANT,
        frozenset({Skill.PUSH}),
        "the same statement in transactions of SQLAlchemy's engine.begin",
        family="raw",
    ),
    *_topiq(
        "topiq",
        "topiq:Topiq",
        _WORKER,
        "Worker, each handler, batches of 500, SQLAlchemy engine, notifier; one polled ahead if alone, not on SQLite",
        brief=True,
    ),
    *_topiq("topiq tx", "topiq:Topiq", _WORKER_TX, "the same with transactional claims", claim="TRANSACTION"),
    *_topiq(
        "topiq autocommit",
        "topiq:TopiqAutocommit",
        frozenset({Skill.PUSH}),
        "pushing on a SQLAlchemy connection in autocommit mode, which is kept",
    ),
    *_topiq("topiq driver", "topiq:TopiqDriver", _WORKER, "the same on connections of the driver", brief=True),
    *_topiq("topiq driver tx", "topiq:TopiqDriver", _WORKER_TX, "both", claim="TRANSACTION"),
    *_topiq(
        "topiq calls",
        "topiq:TopiqCalls",
        _CLAIMING | {Skill.PARTS},
        "poll_many and complete_many on a connection of the driver, no worker",
    ),
    *_topiq(
        "topiq calls tx",
        "topiq:TopiqCalls",
        _CLAIMING,
        "the same, transactional",
        brief=True,
        claim="TRANSACTION",
    ),
    _part(Database.POSTGRESQL, "task_open", "calls; no index of open tasks by identifier", brief=True),
    _part(Database.POSTGRESQL, "task_done", "calls; no index of finished tasks by identifier"),
    _part(Database.POSTGRESQL, "small indexes", "calls; no index of rare states, due times and references"),
    _part(Database.POSTGRESQL, "times", "calls; no block range index of times"),
    _part(Database.POSTGRESQL, "checks", "calls; states are numbers of which any will do"),
    _part(Database.POSTGRESQL, "notices", "calls; pushes are not announced"),
    _part(Database.POSTGRESQL, "partitions", "calls; all topics in one table"),
    _part(Database.SQLITE, "task_open", "calls; no index of what is neither READY nor finished by identifier"),
    _part(Database.SQLITE, "task_done", "calls; no index of finished tasks by identifier", brief=True),
    _part(Database.SQLITE, "small indexes", "calls; no index of rare states, due times and references"),
    _peer(
        "pgmq",
        "pgmq:Pgmq",
        _FAST,
        50_000,
        "send_batch; read_batch and archive_batch of 500; notifications for the latency alone",
    ),
    _peer(
        "pgmq delete",
        "pgmq:PgmqDelete",
        frozenset({Skill.DRAIN, Skill.WORKERS}),
        50_000,
        "delete_batch instead of archive_batch: nothing is kept",
    ),
    _peer(
        "pgqueuer",
        "pgqueuer:Pgqueuer",
        _FAST,
        30_000,
        "asyncpg, uvloop; batches of 500; finished tasks leave a line in its log",
    ),
    _peer(
        "chancy",
        "chancy:ChancyAdapter",
        _COMMON,
        20_000,
        "asynchronous executor, concurrency 500, eager polling; completions every 0.05 s",
    ),
    _peer(
        "procrastinate",
        "procrastinate:Procrastinate",
        _COMMON,
        3_000,
        "batch_defer; asynchronous worker, concurrency 10, pool of 10, notifications",
    ),
    _peer(
        "dbos",
        "dbos:Dbos",
        _COMMON,
        3_000,
        "no bulk: 1,000 enqueued in a transaction; queue polled each 0.02 s (default 1 s), 16 threads",
    ),
    _peer(
        "absurd",
        "absurd:AbsurdAdapter",
        _COMMON,
        5_000,
        "no bulk: 1,000 spawned in a transaction; batches of 100, polled each 0.01 s",
    ),
    _peer(
        "celery sqlalchemy",
        "celery:CeleryAdapter",
        _COMMON,
        2_000,
        "no bulk; solo pool, no results, prefetch 100, polled each 0.01 s; acknowledged when delivered",
        venv="celery",
    ),
    _small_peer(
        "huey",
        "huey:Huey",
        _COMMON,
        10_000,
        "no bulk; fsync off, no results; a task is deleted before it runs; polled each 0.01 s",
    ),
    _small_peer("litequeue", "litequeue:Lite", _COMMON, 2_000, "1,000 puts in a transaction; pop and done"),
    _small_peer(
        "persist-queue",
        "persistqueue:PersistQueue",
        _COMMON - {Skill.WORKERS},
        2_000,
        "no bulk; SQLiteAckQueue; not atomic between processes, so one worker alone",
    ),
)
