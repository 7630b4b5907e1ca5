"""``topiq schema``: the tables come, are named, are shown as SQL and go."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from task_sql import schema
from tests.console.calls import failure, invoke

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]
SPOKEN = schema.VERSION


def test_install_makes_the_tables_once(topiq: Topiq) -> None:
    """A second installation finds everything there."""
    topiq("schema", "uninstall", "--yes")
    assert topiq.json("schema", "install") == {"version": SPOKEN, "installed": True}
    assert topiq.json("schema", "install") == {"version": SPOKEN, "installed": False}
    assert "was there already" in topiq("schema", "install")
    assert topiq.json("topics") == []


def test_install_takes_the_choices_of_an_installation(topiq: Topiq, backend: Backend) -> None:
    """Without the view the view is missing."""
    topiq("schema", "uninstall", "--yes")
    assert "installed in" in topiq("schema", "install", "--no-pretty", "--unpartitioned", "--no-notify")
    with backend.begin() as tx:
        names = backend.engine.dialect.get_view_names(tx)
    assert "task_pretty" not in names


def test_version_names_both_versions(topiq: Topiq) -> None:
    """The installed version and the one that is spoken are told, and agree."""
    assert topiq.json("schema", "version") == {"installed": SPOKEN, "spoken": SPOKEN}
    assert topiq.lines("schema", "version") == [["installed:", str(SPOKEN)], ["spoken:", str(SPOKEN)]]


def test_version_fails_without_a_schema(topiq: Topiq) -> None:
    """A script can tell by the exit code."""
    topiq("schema", "uninstall", "--yes")
    code, line = topiq.fails("schema", "version")
    assert (code, line) == (4, "there is no topiq schema in this database; install it with `topiq schema install`")


def test_upgrade_leaves_the_present_version(topiq: Topiq) -> None:
    """There is nothing to do."""
    assert topiq.json("schema", "upgrade") == {"from": SPOKEN, "version": SPOKEN}
    assert topiq("schema", "upgrade") == f"the schema is version {SPOKEN} already\n"


@pytest.mark.parametrize("command", [("schema", "upgrade"), ("schema", "install"), ("schema", "version"), ("topics",)])
def test_a_newer_schema_is_left_alone(topiq: Topiq, backend: Backend, command: tuple[str, ...]) -> None:
    """Every command says that another topiq is needed."""
    backend.sql("UPDATE task_schema SET version = 99")
    code, line = topiq.fails(*command)
    assert code == 4
    assert line.startswith("the schema has version 99, newer than")
    assert "use the topiq that upgraded it" in line


def test_an_older_schema_is_to_be_upgraded(topiq: Topiq, backend: Backend) -> None:
    """Commands name the one that helps."""
    backend.sql("UPDATE task_schema SET version = 0")
    code, line = topiq.fails("topics")
    assert code == 4
    assert line.endswith("run `topiq schema upgrade`")


def test_uninstall_asks_first(topiq: Topiq) -> None:
    """Without a yes nothing happens; the number of tasks is shown."""
    topiq("init", "orders")
    topiq("push", "orders", "a", "b")
    result = invoke("schema", "uninstall", url=topiq.url, given="n\n")
    code, line = failure(result)
    assert (code, line) == (1, "nothing was changed; answer y, or pass --yes to do it without being asked")
    assert "holds 2 tasks" in result.stderr
    assert topiq.json("schema", "uninstall", given="y\n") == {"tasks": 2}
    assert topiq.fails("topics")[0] == 4


def test_uninstall_of_nothing_says_so(topiq: Topiq) -> None:
    """There is no schema to remove."""
    topiq("schema", "uninstall", "--yes")
    assert topiq.fails("schema", "uninstall", "--yes")[0] == 4


def test_sql_is_what_would_be_run(topiq: Topiq, backend: Backend) -> None:
    """What is printed is what the library renders for the database of the URL."""
    assert topiq("schema", "sql") == schema.render(backend.name)
    assert topiq.json("schema", "sql")["sql"] == schema.render(backend.name)
    assert topiq("schema", "sql", "--since", SPOKEN).strip() == ""


@pytest.mark.parametrize("database", ["sqlite", "postgresql", "oracle"])
def test_sql_needs_no_database(database: str) -> None:
    """A DBA's copy is printed without a URL, and runs."""
    result = invoke("schema", "sql", "--database", database, "--no-pretty")
    assert result.exit_code == 0, result.output
    assert "CREATE TABLE task" in result.stdout
    assert "task_pretty" not in result.stdout
    if database == "sqlite":
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(result.stdout)


def test_install_makes_the_file(tmp_path: Path) -> None:
    """Only an installation makes a file; the others say that there is none."""
    path = tmp_path / "new.db"
    assert failure(invoke("topics", url=f"sqlite:///{path}")) == (
        3,
        f"there is no file {path}; `topiq schema install` makes it",
    )
    assert not path.exists()
    assert invoke("schema", "install", url=f"sqlite:///{path}").exit_code == 0
    assert invoke("topics", url=f"sqlite:///{path}").exit_code == 0


@pytest.mark.parametrize(("kind", "name"), [("TABLE", "task"), ("TABLE", "task_owner"), ("VIEW", "task_pretty")])
def test_install_leaves_what_is_not_its_own(topiq: Topiq, backend: Backend, kind: str, name: str) -> None:
    """A table of the same name is told with a way out, and nothing is made."""
    topiq("schema", "uninstall", "--yes")
    backend.sql(f"CREATE {kind} {name} AS SELECT 1 AS mine")
    try:
        code, line = topiq.fails("schema", "install")
        assert code == 1
        assert line.startswith(
            f"there is a table or view {name!r} already, which is not topiq's; install into another "
        )
        assert topiq.fails("schema", "version")[0] == 4
        assert backend.sql(f"SELECT mine FROM {name}") == [(1,)]  # noqa: S608 - ours
        if kind == "VIEW":
            assert topiq.json("schema", "install", "--no-pretty")["installed"]
    finally:
        backend.sql(f"DROP {kind} {name}")
