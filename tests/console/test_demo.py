"""What ``topiq demo`` prints and leaves behind."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from task_console import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command makes its temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(main, list(arguments))


def row(output: str, topic: str) -> list[int]:
    """The numbers in the topic's row of the summary table."""
    (line,) = [line for line in output.splitlines() if re.match(rf"\W*{topic}\b", line)]
    return [int(number) for number in re.findall(r"\d+", line)]


def test_demo_decides_every_task_and_removes_its_file(folder: Path) -> None:
    """Without --keep the summary accounts for every task and nothing is left on the disk."""
    result = run("demo", "--tasks", "300")
    assert result.exit_code == 0, result.output
    header = next(line for line in result.output.splitlines() if "topic" in line)
    assert re.findall(r"[A-Z]+", header) == ["FAILED", "FILTERED", "SUCCEEDED"]
    assert {topic: row(result.output, topic) for topic in ("orders", "invoices", "mails")} == {
        "orders": [2, 5, 93],
        "invoices": [2, 5, 93],
        "mails": [2, 5, 93],
    }
    assert "pushed 300 of 300 tasks" in result.output
    assert "decided 300 of 300 tasks" in result.output
    assert "effects 279, succeeded tasks 279: each happened exactly once" in result.output
    assert "What to try next" in result.output
    assert list(folder.iterdir()) == []


def test_demo_keeps_the_database_that_it_was_told_to_keep(folder: Path) -> None:
    """With --keep the file stays, is named, and holds a row for each task."""
    path = folder / "kept.db"
    result = run("demo", "--tasks", "60", "--keep", str(path))
    assert result.exit_code == 0, result.output
    assert f"The database is kept in {path}." in result.output
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM task").fetchone() == (60,)


def test_demo_runs_with_fewer_tasks_than_topics(folder: Path) -> None:
    """A single task is enough."""
    result = run("demo", "--tasks", "1")
    assert result.exit_code == 0, result.output
    assert "effects 1, succeeded tasks 1" in result.output
    assert list(folder.iterdir()) == []


def test_demo_does_not_overwrite_a_file(folder: Path) -> None:
    """A path that exists is refused with a sentence, and the file is left as it was."""
    path = folder / "precious.txt"
    path.write_text("mine")
    result = run("demo", "--keep", str(path))
    assert result.exit_code == 2
    assert "already exists; name a new file" in " ".join(result.output.split())
    assert path.read_text() == "mine"


def test_demo_names_a_folder_that_does_not_exist(folder: Path) -> None:
    """A path in a missing folder is refused with a sentence."""
    result = run("demo", "--keep", str(folder / "missing" / "demo.db"))
    assert result.exit_code == 2
    assert "does not exist" in " ".join(result.output.split())


@pytest.mark.parametrize("arguments", [["demo", "--wrong"], ["demo", "--tasks", "0"], ["demo", "--tasks", "many"]])
def test_a_wrong_option_is_answered_without_a_traceback(arguments: list[str]) -> None:
    """A mistake gives the usage, the reason and exit status 2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.output.startswith("Usage: ")
    assert "Error: " in result.output
    assert "Traceback" not in result.output


def test_version_is_that_of_the_distribution() -> None:
    """The command line names the installed version."""
    assert run("--version").output == f"topiq {version('topiq')}\n"
