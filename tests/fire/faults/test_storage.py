"""A disk that is full, and one that can't be written to."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import task_sql
from tests.fire.faults import FAULTS
from tests.fire.faults.stage import Extra
from tests.fleet.crew import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fire.faults.stage import Stage

WRITING = """
import sqlalchemy, task_sql, time
from tests.fire.faults import inside
inside.obey()
engine = task_sql.create_engine(sys.argv[3])
while True:
    try:
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("INSERT INTO thing VALUES (randomblob(3000))"))
        print("written", file=diary)
    except sqlalchemy.exc.OperationalError as error:
        print(error.orig.sqlite_errorname, file=diary)
    time.sleep(0.005)
"""
"""A program that writes to a database, and writes down what came of that."""


@pytest.fixture
def stage(stage: Stage, tmp_path: Path) -> Stage:
    """A scene with two processes that write to one file."""
    stage.database, stage.database_file = "sqlite", tmp_path / "topiq.db"
    stage.url = f"sqlite:///{stage.database_file}"
    engine = task_sql.create_engine(stage.url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE thing (content BLOB)")
    engine.dispose()
    stage.members = [Extra(name, tmp_path, WRITING, stage.url) for name in ("one", "two")]
    for member in stage.members:
        member.wait(20)
    return stage


@pytest.mark.parametrize(
    ("fault", "seed", "error"),
    [
        ("disk-full", 4, "SQLITE_FULL"),
        ("disk-full", 1, "SQLITE_IOERR_WRITE"),
        ("read-only", 1, "SQLITE_READONLY"),
    ],
)
def test_nobody_can_write_for_a_while(stage: Stage, fault: str, seed: int, error: str) -> None:
    """Writes fail with SQLite's own error, and in the end they succeed again."""
    FAULTS[fault].strike(stage, Random(seed))  # noqa: S311 - to be repeated
    for member in stage.members:
        eventually(lambda member=member: member.lines[-2:] == ["written"] * 2, lambda: error)  # type: ignore[misc]
        assert set(member.lines) == {"written", error}
