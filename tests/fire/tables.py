"""
What the processes write down, each in the very transaction that it is about.

``fire_ledger`` has a row for each decision, written by the handler. Its moments are the database's: ``claimed`` is
drawn after the claim, ``decided`` before the decision commits, so that what overlaps by them has overlapped in truth.
``fire_note`` has a row for each pushed task, ``fire_link`` one for each task that another waits for.
No table has a key, so that what should not be there is seen and not refused.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import sqlalchemy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

RAISED = 9
"""The decision of work that raised: no such row may survive."""

LEDGER = (
    ("topic", "text"),
    ("sequence", "bigint"),
    ("identifier", "text"),
    ("owner", "text"),
    ("attempt", "integer"),
    ("token", "integer"),
    ("decision", "integer"),
    ("batch", "bigint"),
    ("place", "integer"),
    ("claimed", "double precision"),
)
NOTE = (
    ("batch", "text"),
    ("topic", "text"),
    ("sequence", "bigint"),
    ("identifier", "text"),
    ("mode", "text"),
)
LINK = (("run", "bigint"), ("predecessor", "bigint"))
_TABLES = {"fire_ledger": (LEDGER, "decided"), "fire_note": (NOTE, "moment"), "fire_link": (LINK, "moment")}
_CLOCKS = {
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400.0 AS double precision)",
}


def clock(database: str) -> str:
    """The database's time in seconds, as SQL."""
    return _CLOCKS[database]


def create(tx: Connection) -> None:
    """Create all tables."""
    for name, (columns, moment) in _TABLES.items():
        declared = ", ".join(f"{column} {kind}" for column, kind in (*columns, (moment, "double precision")))
        tx.execute(sqlalchemy.text(f"CREATE TABLE {name} ({declared})"))


def moment(tx: Connection) -> float:
    """The database's time in seconds."""
    return float(tx.execute(sqlalchemy.text(f"SELECT {clock(tx.dialect.name)}")).scalar_one())


def write_ledger(tx: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows of the ledger, in the order of its columns."""
    _write(tx, "fire_ledger", rows)


def write_notes(tx: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write notes."""
    _write(tx, "fire_note", rows)


def write_links(tx: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write links."""
    _write(tx, "fire_link", rows)


def _write(tx: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    columns, moment = _TABLES[table]
    names = ", ".join(name for name, _ in columns)
    now = clock(tx.dialect.name)
    if tx.dialect.name == "sqlite":
        marks = ", ".join("?" for _ in columns)
        tx.exec_driver_sql(f"INSERT INTO {table} ({names}, {moment}) VALUES ({marks}, {now})", list(rows))  # noqa: S608
        return
    arrays = ", ".join(f"CAST(%({name})s AS {kind}[])" for name, kind in columns)
    statement = f"INSERT INTO {table} ({names}, {moment}) SELECT u.*, (SELECT {now}) FROM unnest({arrays}) AS u"  # noqa: S608
    values = zip(*rows, strict=True)
    tx.exec_driver_sql(statement, {name: list(value) for (name, _), value in zip(columns, values, strict=True)})


def open_tasks(tx: Connection, topics: Sequence[str]) -> int:
    """How many tasks of topics are not decided."""
    # As the index for open tasks has the states.
    statement = sqlalchemy.text(
        "SELECT count(*) FROM task WHERE state + 0 <= 4 AND state + 0 <> 3 AND topic IN :topics"
    ).bindparams(sqlalchemy.bindparam("topics", expanding=True))
    return int(tx.execute(statement, {"topics": topics}).scalar_one())


def wait_for(seconds: float) -> None:
    """Take some time, as work does."""
    time.sleep(seconds)
