"""What ``topiq demo`` prints and leaves behind."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from task_console.demo import shop
from task_console.demo.shop import expected
from tests.console.calls import COMMAND, environment, failure, invoke

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from task_api import TaskRepository
    from tests.backends import Backend


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command makes its temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


ROWS = [
    ["topic", "SUCCEEDED", "FILTERED", "FAILED", "retries", "median", "95", "%"],
    ["orders", "95", "5", "0", "0"],
    ["invoices", "93", "0", "2", "12"],
    ["mails", "93", "0", "0", "0"],
]
"""The table of a hundred orders, times aside."""


def rows(output: str) -> list[list[str]]:
    """The words of the table's lines, times aside."""
    lines = [line.split() for line in output.splitlines()]
    start = lines.index(ROWS[0])
    return [lines[start], *(line[:5] for line in lines[start + 1 : start + 4])]


def test_demo_decides_every_task_and_removes_its_file(folder: Path) -> None:
    """The table accounts for every task, the effects agree, and nothing is left on the disk."""
    result = invoke("demo", "--tasks", 100)
    assert result.exit_code == 0, result.output
    assert rows(result.stdout) == ROWS
    for topic, number in expected(100).items():
        assert f"{topic}: {number} of {number} decided" in result.stdout
    assert "288 tasks in " in result.stdout
    assert " s on SQLite: " in result.stdout
    assert "93 invoices succeeded and 93 were written: each exactly once." in result.stdout
    assert "What to try next:" in result.stdout
    assert "topiq demo --keep demo.db" in result.stdout
    assert result.stderr == ""
    assert list(folder.iterdir()) == []


def test_demo_for_scripts(folder: Path) -> None:
    """States, retries and latencies by topic, in JSON and nothing else."""
    result = invoke("demo", "--tasks", 100, "--json")
    told = json.loads(result.stdout)
    assert (told["database"], told["tasks"], told["effects"]) == ("sqlite", 288, 93)
    assert told["seconds"] > 0
    invoices = told["topics"]["invoices"]
    assert invoices["states"] == {"SUCCEEDED": 93, "FAILED": 2}
    assert invoices["retries"] == 12
    assert 0 < invoices["median"] <= invoices["slow"]
    assert list(folder.iterdir()) == []


def test_demo_keeps_the_database_that_it_was_told_to_keep(folder: Path) -> None:
    """The file stays, and the commands that are named next work on it."""
    path = folder / "kept.db"
    result = invoke("demo", "--tasks", 60, "--keep", path)
    assert result.exit_code == 0, result.output
    assert f"export TOPIQ_URL='sqlite:///{path}'" in result.stdout
    assert f"Delete the file {path} when you are done." in result.stdout
    named = [line.split() for line in result.stdout.splitlines() if line.startswith("  topiq ")]
    assert ["topiq", "list", "invoices", "--state", "FAILED"] in [line[:5] for line in named]
    for command in (["count"], ["list", "invoices", "--state", "FAILED"], ["explain", "invoices"]):
        assert invoke(*command, url=f"sqlite:///{path}").exit_code == 0
    revived = invoke("revive", "invoices", "--state", "FAILED", url=f"sqlite:///{path}")
    assert revived.stdout == "1 FAILED task of invoices is revived\n"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM task").fetchone() == (sum(expected(60).values()),)


def test_demo_runs_with_a_single_order(folder: Path) -> None:
    """One is enough."""
    result = invoke("demo", "--tasks", 1)
    assert result.exit_code == 0, result.output
    assert "1 invoice succeeded and 1 was written" in result.stdout
    assert list(folder.iterdir()) == []


def test_demo_ends_also_when_something_went_otherwise_than_planned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks that never come are not waited for, and the table shows what there was."""
    monkeypatch.setattr("task_console.demo.run.expected", lambda orders: {**expected(orders), "mails": orders + 1})
    monkeypatch.setattr("task_console.demo.run._IDLE", 0.5)
    result = invoke("demo", "--tasks", 100)
    assert result.exit_code == 0, result.output
    assert rows(result.stdout) == ROWS
    assert list(folder.iterdir()) == []


def test_demo_does_not_hide_a_difference(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An effect without its task is said aloud."""
    prepare = shop.prepare

    def prepared(tx: Connection, repository: TaskRepository[Any]) -> None:
        prepare(tx, repository)
        tx.execute(text("INSERT INTO demo_invoice VALUES ('nobody', 1)"))

    monkeypatch.setattr("task_console.demo.run.prepare", prepared)
    result = invoke("demo", "--tasks", 10)
    assert "10 invoices succeeded and 10 were written" not in result.stdout
    assert "were written: THEY DIFFER." in result.stdout
    assert list(folder.iterdir()) == []


def test_demo_heeds_no_environment(folder: Path) -> None:
    """A database that is meant for work is not touched by a demonstration."""
    result = invoke("demo", "--tasks", 10, url="postgresql://nobody@127.0.0.1:1/none")
    assert result.exit_code == 0, result.output
    assert list(folder.iterdir()) == []


def test_demo_does_not_overwrite_a_file(folder: Path) -> None:
    """A path that exists is refused with a sentence, and the file is left as it was."""
    path = folder / "precious.txt"
    path.write_text("mine")
    code, line = failure(invoke("demo", "--keep", path))
    assert (code, line) == (2, f"{path} already exists; name a new file with --keep")
    assert path.read_text() == "mine"


def test_demo_takes_no_name_that_can_not_be_told(folder: Path) -> None:
    """One with bytes that are no text would be of no use in a URL."""
    code, line = failure(invoke("demo", "--keep", f"{folder}/\udcff.db"))
    assert code == 2
    assert "it must be valid Unicode" in line
    assert list(folder.iterdir()) == []


def test_demo_names_a_folder_that_does_not_exist(folder: Path) -> None:
    """A path in a missing folder is refused with a sentence."""
    code, line = failure(invoke("demo", "--keep", folder / "missing" / "demo.db"))
    assert (code, line) == (2, f"the folder {folder / 'missing'} does not exist")


@pytest.mark.parametrize("arguments", [["--wrong"], ["--tasks", "0"], ["--tasks", "many"]])
def test_a_wrong_option_is_answered_without_a_traceback(arguments: list[str]) -> None:
    """A mistake gives the usage, the reason and exit status 2."""
    result = invoke("demo", *arguments)
    assert failure(result)[0] == 2
    assert result.stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    "arguments",
    [("demo", "--url", "sqlite:///some.db"), ("--url", "sqlite:///some.db", "demo")],
    ids=["after", "before"],
)
def test_demo_takes_no_sqlite_url(arguments: tuple[str, ...]) -> None:
    """There the file is made anew."""
    code, line = failure(invoke(*arguments))
    assert code == 2
    assert "--keep" in line


@pytest.mark.kinds("connection")
@pytest.mark.backends("postgresql")
def test_demo_leaves_a_postgresql_database_as_it_was(backend: Backend) -> None:
    """It works in a schema of its own, and nothing that was there is touched or added."""
    before = relations(backend)
    result = invoke("demo", "--tasks", 100, "--url", backend.url)
    assert result.exit_code == 0, result.output
    assert rows(result.stdout) == ROWS
    assert " s on PostgreSQL: " in result.stdout
    assert relations(backend) == before
    assert backend.sql("SELECT count(*) FROM task_topic") == [(0,)]


@pytest.mark.kinds("connection")
@pytest.mark.backends("postgresql")
def test_demo_keeps_a_schema(backend: Backend) -> None:
    """Its name is given, the URL that is named next leads there, and it is not overwritten."""
    result = invoke("demo", "--tasks", 10, "--url", backend.url, "--keep", "kept")
    assert result.exit_code == 0, result.output
    [line] = [line for line in result.stdout.splitlines() if "export TOPIQ_URL=" in line]
    url = line.split("'")[1].replace("***", "")
    assert json.loads(invoke("count", "orders", "--json", url=url).stdout)["orders"]["SUCCEEDED"]["count"] == 9
    assert "Run DROP SCHEMA kept CASCADE when you are done." in result.stdout
    again = failure(invoke("demo", "--url", backend.url, "--keep", "kept"))
    assert again == (2, "the schema kept already exists; name a new one with --keep")
    assert failure(invoke("demo", "--url", backend.url, "--keep", "x; drop"))[0] == 2


@pytest.mark.parametrize("before", [True, False], ids=["before the command", "after it"])
def test_demo_without_a_server(*, before: bool) -> None:
    """One line without the password, and the exit code, wherever the URL stands."""
    url = ("--url", "postgresql://nobody:s3cret@127.0.0.1:1/none")
    code, line = failure(invoke(*url, "demo") if before else invoke("demo", *url))
    assert code == 3
    assert line.startswith("can't reach postgresql://nobody:***@127.0.0.1:1/none: ")
    assert "s3cret" not in line


def written(path: Path) -> int:
    """How many bytes a file has, if it is there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("progress", [1, 500_000, 2_000_000])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_demo_cleans_up_when_it_is_stopped(tmp_path: Path, number: signal.Signals, code: int, progress: int) -> None:
    """A signal in the middle leaves no file behind, and no trace on the screen, whatever it cuts into."""
    command = [*COMMAND, "demo", "--tasks", "1000000"]
    with subprocess.Popen(  # noqa: S603 - ours
        command, env=environment(TMPDIR=str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while sum(map(written, tmp_path.glob("topiq-demo-*/demo.db*"))) < progress:
            assert time.monotonic() < deadline
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.05)
        process.send_signal(number)
        _, problems = process.communicate(timeout=60)
    assert "Traceback" not in problems
    assert process.returncode == code
    assert list(tmp_path.iterdir()) == []


def relations(backend: Backend) -> list[tuple[str, ...]]:
    """Every table, index, view and sequence of the database."""
    return backend.sql(
        "SELECT nspname, relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE nspname NOT LIKE 'pg_%' ORDER BY 1, 2"
    )
