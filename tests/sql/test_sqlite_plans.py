"""How SQLite finds tasks: with statistics and without, no call reads all of them, and no index is kept for nothing."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from task_sql.schema import render
from task_sql.schema.scripts import statements as split
from task_sql.sqlite.claim import CLAIMS
from tests.sql.collect import statements

INDEXES = {"task_ready", "task_listed", "task_open", "task_done", "task_rare", "task_due", "task_reference"}
THROUGH_ALL = {"list.results", "list.count", "list.resolve", "owner.purge", "topic.clear"}
"""Reports, and what is done once in a while."""
THROUGH_READY = {
    *("claim.poll", "claim.beside", "list.count", "list.page"),
    *("listed.enter", "between.all", "between.lock"),  # once for each topic, or before that
}
"""What is meant to go through the READY tasks of a topic."""
PLANNED = {"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE"}


@pytest.fixture(params=[False, True], ids=["new", "analyzed"])
def connection(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    """A database as installed, or with a history that SQLite has statistics of."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in split(render("sqlite")):
            connection.execute(statement)
        connection.execute(CLAIMS)
        if request.param:
            rows = [(f"task {i}", i // 10 % 9 if i % 10 == 0 else 6) for i in range(5_000)]
            connection.executemany(
                "INSERT INTO task (topic, identifier, state, owner, lease, due, reference)"
                " VALUES ('topic', ?, ?, 'me', '2020', '2020', 'reference')",
                rows,
            )
            connection.execute("ANALYZE")
        yield connection


def _plans(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Each statement's name, and what SQLite would do for it."""
    for name, variants in statements("sqlite").items():
        for text in variants.values():
            if text.split()[0] in PLANNED:
                names = dict.fromkeys(re.findall(r":(\w+)", text))
                given = names or (None,) * text.count("?")
                for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {text}", given):
                    yield name, step


def test_tasks_are_not_read_from_end_to_end(connection: sqlite3.Connection) -> None:
    """What a call costs does not depend on how much has been finished (PA-07)."""
    scanned = {name for name, step in _plans(connection) if re.match(r"SCAN (task|t|s)\b", step)}
    assert scanned <= THROUGH_ALL


def test_identifiers_are_looked_up(connection: sqlite3.Connection) -> None:
    """Replacing a task costs the same however many others are READY (P5)."""
    walking = {name for name, step in _plans(connection) if "INDEX task_ready (topic=?)" in step}
    assert walking <= THROUGH_READY


def test_each_index_serves_a_statement(connection: sqlite3.Connection) -> None:
    """Every write judges every index, so that one that nothing is found by would only cost (DESIGN 4)."""
    present = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'task'")
    }
    used = {index for _, step in _plans(connection) for index in re.findall(r"INDEX (task_\w+)", step)}
    assert present == INDEXES
    assert present <= used


def test_what_is_held_is_found_by_its_key(connection: sqlite3.Connection) -> None:
    """Deciding tasks looks each of them up once, in the table itself (DESIGN 4)."""
    holds = {step for name, step in _plans(connection) if name.startswith("hold.")}
    found = {step.split(" USING ")[1] for step in holds if re.match(r"SEARCH (task|t)\b", step)}
    assert found == {"INTEGER PRIMARY KEY (rowid=?)"}


def test_polls_walk_the_ready_tasks_in_order(connection: sqlite3.Connection) -> None:
    """A poll sorts nothing, and stops when it has enough (P3)."""
    steps = [step for name, step in _plans(connection) if name in {"claim.poll", "claim.beside"}]
    assert any("task_ready (topic=?)" in step for step in steps)
    assert not [step for step in steps if "TEMP B-TREE" in step]
