"""
What is left in the end, copied into a SQLite file of its own.

So every rule is one statement for all databases, reads a million tasks without holding them, and can be tried on a few
rows; and what a run left can be looked at afterwards.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy

import task_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.fire.plan import Plan

_TABLES = """
CREATE TABLE topic (topic, singular, descending);
CREATE TABLE task (topic, sequence INTEGER PRIMARY KEY, identifier, state, owner, attempt, token, polled, output);
CREATE TABLE ledger (
    topic, sequence INTEGER, identifier, owner, attempt, token, decision, batch, place, claimed, decided);
CREATE TABLE note (batch, topic, sequence INTEGER, identifier, mode, moment);
CREATE TABLE link (run INTEGER, predecessor INTEGER, moment);
CREATE TABLE diary (word, batch, number);
CREATE TABLE counted (topic, state, number);
CREATE TABLE session (name, state, seconds, query);
CREATE TABLE lock (kind, name);
CREATE TABLE member (name, problem);
"""
_INDEXES = """
CREATE INDEX ledger_sequence ON ledger (sequence, token);
CREATE INDEX note_sequence ON note (sequence);
CREATE INDEX note_batch ON note (batch);
CREATE INDEX note_identifier ON note (topic, identifier, sequence) WHERE mode <> 'APPEND';
CREATE INDEX link_run ON link (run);
CREATE INDEX diary_batch ON diary (batch, word);
ANALYZE;
"""
_TASK = "topic, sequence, identifier, state, owner, attempt, token, {polled}, substr(output, 1, 200)"
_POLLED = {
    "postgresql": "CAST(extract(epoch FROM polled) AS double precision)",
    "sqlite": "CAST((julianday(polled) - 2440587.5) * 86400.0 AS double precision)",
}
_SIZE = 20_000
_LINE = re.compile(r"(begin|commit|rollback) (\S+) (\d+)\n")


def create(path: Path | str) -> sqlite3.Connection:
    """Begin with nothing."""
    connection = sqlite3.connect(path)
    connection.create_function("stem", 1, lambda text: text.rpartition("-")[0], deterministic=True)
    connection.executescript(_TABLES)
    return connection


def finish(connection: sqlite3.Connection) -> None:
    """Make ready for questions, once all is there."""
    connection.commit()
    connection.executescript(_INDEXES)


def add(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add rows to a table, in the order of its columns."""
    iterator = iter(rows)
    for first in iterator:
        marks = ", ".join("?" for _ in first)
        statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608 - ours
        connection.execute(statement, first)
        connection.executemany(statement, iterator)


def collect(connection: sqlite3.Connection, plan: Plan, url: str, folder: Path) -> None:
    """Copy what the database and the diaries hold."""
    add(connection, "topic", ((t.name, t.condition != "NONE", t.order.startswith("LAST")) for t in plan.topics))
    names = {topic.name for topic in plan.topics}
    columns = _TASK.format(polled=_POLLED[plan.database])
    for table, statement in {
        "task": f"SELECT {columns} FROM task",  # noqa: S608 - ours
        "ledger": "SELECT * FROM fire_ledger",
        "note": "SELECT * FROM fire_note",
        "link": "SELECT * FROM fire_link",
    }.items():
        rows = _rows(plan.database, url, statement)
        add(connection, table, (row for row in rows if table != "task" or row[0] in names))
    add(connection, "diary", (line for path in sorted(folder.glob("*.diary")) for line in _lines(path)))
    add(connection, "counted", _counts(url, names))


def _rows(database: str, url: str, statement: str) -> Iterator[tuple[Any, ...]]:
    if database == "sqlite":
        source = sqlite3.connect(str(sqlalchemy.make_url(url).database))
        try:
            yield from source.execute(statement)
        finally:
            source.close()
        return
    dsn = sqlalchemy.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn) as server, server.cursor(name="evidence") as cursor:
        cursor.itersize = _SIZE
        yield from cursor.execute(statement.encode())


def _lines(path: Path) -> Iterator[tuple[str, str, int]]:
    for line in path.read_text().splitlines(keepends=True):
        # Whoever writes may be killed in the midst of it, or have no room for the rest.
        if found := _LINE.fullmatch(line):
            yield found[1], found[2], int(found[3])


def _counts(url: str, names: set[str]) -> Iterator[tuple[str, int, int]]:
    engine = task_sql.create_engine(url)
    repository = task_sql.create_repository(engine, owner="auditor")
    try:
        with engine.begin() as tx:
            counts = repository.count(tx)
    finally:
        engine.dispose()
    for topic, states in counts.items():
        if topic in names:
            yield from ((topic, int(state), summary.count) for state, summary in states.items())
