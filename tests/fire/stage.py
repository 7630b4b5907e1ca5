"""The databases that a run can be on."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
import sqlalchemy

import task_sql
from tests.fire import tables
from tests.fire.faults.bouncer import Bouncer
from tests.fire.faults.cluster import SPARED, Cluster
from tests.fire.faults.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fire.plan import Plan

_LEFT_OPEN = """
SELECT application_name, state, extract(epoch FROM clock_timestamp() - state_change)::float8, left(query, 200)
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
AND state LIKE 'idle in transaction%' AND clock_timestamp() - state_change > interval '1 second'
"""
# Whoever polls holds locks for a moment; whoever has been idle for a second holds none.
_LOCKS = """
SELECT l.locktype, coalesce(l.relation::regclass::text, l.mode)
FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
AND a.state NOT IN ('active', 'fastpath function call') AND clock_timestamp() - a.state_change > interval '1 second'
UNION ALL SELECT 'prepared', gid FROM pg_prepared_xacts
UNION ALL SELECT 'mutex', key::text FROM task_mutex WHERE key NOT BETWEEN 1 AND 5000
"""
_POOL = 40
"""How many sessions a pooler shares among all."""


class Stage(Protocol):
    """A database, what stands before it, and how to look at it."""

    cluster: Any
    proxy: Any
    database_file: Path | None

    @property
    def url(self) -> str:
        """What members use."""
        ...

    @property
    def admin_url(self) -> str:
        """Past the proxy, as a superuser."""
        ...

    def sessions(self) -> list[tuple[Any, ...]]:
        """Who is in a transaction and does nothing."""
        ...

    def locks(self) -> list[tuple[Any, ...]]:
        """What is locked by those who do nothing."""
        ...


class SqliteStage:
    """A file."""

    cluster = proxy = None

    def __init__(self, folder: Path) -> None:
        self.database_file: Path | None = folder / "fire.db"
        self.url = self.admin_url = f"sqlite:///{self.database_file}"

    def sessions(self) -> list[tuple[Any, ...]]:
        """None that could be told from its lock."""
        return []

    def locks(self) -> list[tuple[Any, ...]]:
        """Whether somebody keeps others from writing."""
        with closing(sqlite3.connect(str(self.database_file), timeout=1, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                return [("file", str(error))]
            connection.execute("ROLLBACK")
            return []


class PostgresStage:
    """Servers of the run's own, behind a proxy."""

    database_file: Path | None = None

    def __init__(self, cluster: Cluster, proxy: Proxy, bouncer: Bouncer | None) -> None:
        self.cluster = cluster
        self.proxy = proxy
        self._bouncer = bouncer
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE fire")

    @property
    def url(self) -> str:
        """Through the proxy, and a pooler before it."""
        return (self._bouncer or self.proxy).through(self._url())

    @property
    def admin_url(self) -> str:
        """Past the proxy; it changes with the primary."""
        return f"{self._url()}?application_name={SPARED}"

    def sessions(self) -> list[tuple[Any, ...]]:
        """Who is in a transaction and does nothing."""
        return self._ask(_LEFT_OPEN)

    def locks(self) -> list[tuple[Any, ...]]:
        """What is locked by those who do nothing."""
        return self._ask(_LOCKS)

    def _url(self) -> str:
        url = sqlalchemy.make_url(self.cluster.url).set(drivername="postgresql+psycopg", database="fire")
        return url.render_as_string(hide_password=False)

    def _ask(self, statement: str) -> list[tuple[Any, ...]]:
        dsn = self.admin_url.replace("+psycopg", "")
        with psycopg.connect(dsn, autocommit=True) as connection:
            return connection.execute(statement.encode()).fetchall()


@contextmanager
def stage(plan: Plan, folder: Path, pooler: Path | None = None) -> Iterator[Stage]:
    """Set the database up, with everything in it that members expect; the pooler is a program."""
    if plan.database == "sqlite":
        built = SqliteStage(folder)
        _found(plan, built)
        yield built
        return
    cluster = Cluster(standby="promote" in plan.faults)
    try:
        with ExitStack() as stack:
            proxy = stack.enter_context(Proxy(cluster.port))
            bouncer = stack.enter_context(Bouncer(pooler, proxy.port, folder, size=_POOL)) if pooler else None
            server = PostgresStage(cluster, proxy, bouncer)
            _found(plan, server)
            yield server
    finally:
        cluster.stop()


def _found(plan: Plan, built: Stage) -> None:
    engine = task_sql.create_engine(built.admin_url)
    with engine.begin() as tx:
        task_sql.schema.install(tx)
        tables.create(tx)
        repository = task_sql.create_repository(engine, owner="conductor")
        for topic in plan.topics:
            repository.initialize(tx, topic.name)
    engine.dispose()
