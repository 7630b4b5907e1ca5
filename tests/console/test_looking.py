"""Commands that only look leave a SQLite file as it is, and need no right to write it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from task_console.database import Database
from task_console.errors import Failure
from tests.console.calls import invoke

if TYPE_CHECKING:
    from pathlib import Path

LOOKS = [
    ["topics"],
    ["count"],
    ["list", "orders"],
    ["show", "orders", "1"],
    ["results"],
    ["owners"],
    ["watch", "--samples", "1"],
    ["explain", "orders"],
    ["schema", "version"],
    ["purge", "orders", "--before", "now"],
]
"""What only looks, or has nothing to do."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A file with a task in it, whose journal is SQLite's own default."""
    path = tmp_path / "shop.db"
    for command in (["schema", "install"], ["init", "orders"], ["push", "orders", "a"]):
        assert invoke(*command, url=f"sqlite:///{path}").exit_code == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    return path


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_looking_changes_no_byte(shop: Path, command: list[str]) -> None:
    """The journal mode is part of the file."""
    before = shop.read_bytes()
    result = invoke(*command, url=f"sqlite:///{shop}")
    assert result.exit_code == 0, result.output
    assert shop.read_bytes() == before
    assert [path.name for path in shop.parent.iterdir()] == ["shop.db"]


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_looking_needs_no_right_to_write(shop: Path, command: list[str]) -> None:
    """A file that can only be read will do."""
    result = invoke(*command, url=f"sqlite:///file:{shop}?mode=ro&uri=true")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_looking_goes_by_a_transaction_that_has_written(shop: Path, command: list[str], journal: str) -> None:
    """It need not be over."""
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("UPDATE task SET input = 'x'")
        result = invoke(*command, url=f"sqlite:///{shop}?timeout=0.1")
        assert result.exit_code == 0, result.output


def test_a_reading_transaction_can_not_write(shop: Path) -> None:
    """Not even by mistake."""
    with pytest.raises(Failure) as caught, Database.opened(f"sqlite:///{shop}") as database, database.read() as tx:
        database.repository.push(tx, "orders", "b")
    assert caught.value.message == "the database refused: attempt to write a readonly database"
