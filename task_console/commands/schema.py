"""``topiq schema``: the tables, for those who may make them, and as SQL for those who have to ask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import sqlalchemy

from task_api import Counting, SchemaError
from task_console.commands.roles import roles
from task_console.database import Database
from task_console.errors import Failure, other_schema
from task_console.options import connected, json_option, url_option, yes_option
from task_console.render import Output
from task_console.urls import parsed_url
from task_console.words import counted
from task_sql import schema as tables
from task_sql.schema.scripts import DATABASES

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlalchemy import Connection

__all__ = ["schema"]

_CREATED = re.compile(r"^CREATE (?:TABLE|VIEW) (\w+)", re.MULTILINE)
_ELSEWHERE = {
    "sqlite": "file",
    "postgresql": "schema, which ?options=-csearch_path%3DNAME in the URL names",
}


@click.group(no_args_is_help=True)
def schema() -> None:
    """Install, upgrade, show or remove the tables."""


schema.add_command(roles)


def _layout(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the choices of an installation."""
    for option in (
        click.option("--no-notify", is_flag=True, help="Announce nothing to listeners."),
        click.option("--no-pretty", is_flag=True, help="Leave the view task_pretty out."),
        click.option(
            "--unpartitioned", is_flag=True, help="Keep all topics in one table, on databases that could partition it."
        ),
    ):
        function = option(function)
    return function


@schema.command()
@_layout
@url_option
@json_option
def install(url: str | None, *, as_json: bool, unpartitioned: bool, no_pretty: bool, no_notify: bool) -> None:
    """
    Create the tables, unless they are there. A SQLite file is made if need be.

    JSON: {version, installed}, where installed tells whether this call did it.
    """
    with Database.opened(url, new=True) as database:
        with database.engine.begin() as tx:
            before = tables.version(tx)
            if before is not None and before != tables.VERSION:
                raise other_schema(before, tables.VERSION)
            if before is None:
                _require_room(tx, pretty=not no_pretty)
            tables.install(tx, partitioned=not unpartitioned, pretty=not no_pretty, notify=not no_notify)
        done = "installed" if before is None else "was there already"
        Output(as_json=as_json).answer(
            {"version": tables.VERSION, "installed": before is None},
            f"the schema, version {tables.VERSION}, {done} in {database}",
        )


@schema.command()
@connected
def upgrade(database: Database, output: Output) -> None:
    """
    Bring the tables to the version that this topiq speaks.

    JSON: {from, version}.
    """
    with database.engine.begin() as tx:
        before = tables.version(tx)
        if before is None or before > tables.VERSION:
            raise other_schema(before, tables.VERSION)
        after = tables.upgrade(tx)
    done = f"is version {after} already" if before == after else f"went from version {before} to {after}"
    output.answer({"from": before, "version": after}, f"the schema {done}")


@schema.command()
@connected
def version(database: Database, output: Output) -> None:
    """
    Print the version of the installed schema, and the one that this topiq speaks.

    Ends with exit code 4 if they differ. JSON: {installed, spoken}, where installed may be null.
    """
    with database.raw_read() as tx:
        found = tables.version(tx)
    output.answer(
        {"installed": found, "spoken": tables.VERSION},
        f"installed: {'none' if found is None else found}",
        f"spoken:    {tables.VERSION}",
    )
    if found != tables.VERSION:
        raise other_schema(found, tables.VERSION)


@schema.command()
@click.option("--database", "name", type=click.Choice(DATABASES), help="For which database; by default the URL's.")
@click.option("--since", type=click.IntRange(min=0), default=0, help="Only what upgrades from this version.")
@_layout
@url_option
@json_option
def sql(
    name: str | None,
    since: int,
    url: str | None,
    *,
    as_json: bool,
    unpartitioned: bool,
    no_pretty: bool,
    no_notify: bool,
) -> None:
    """
    Print the SQL that installs or upgrades the tables, to be read and run by a DBA.

    The database is not touched; only its kind matters. JSON: {database, version, sql}.
    """
    if name is None:
        name = parsed_url(url).get_backend_name()
    text = tables.render(name, partitioned=not unpartitioned, pretty=not no_pretty, notify=not no_notify, since=since)
    Output(as_json=as_json).answer({"database": name, "version": tables.VERSION, "sql": text}, text.rstrip("\n"))


@schema.command()
@yes_option
@connected
def uninstall(*, yes: bool, database: Database, output: Output) -> None:
    """
    Remove the tables with everything in them.

    Shows how many tasks that are and asks, unless --yes. JSON: {tasks}, null if they could not be counted.
    """
    tasks = _count(database)
    what = "tasks that can't be counted" if tasks is None else counted(tasks, "task")
    output.note(f"the schema in {database} holds {what}")
    output.confirm("Remove it with everything in it?", yes=yes)
    with database.engine.begin() as tx:
        tables.uninstall(tx)
    output.answer({"tasks": tasks}, "the schema is removed")


def _require_room(tx: Connection, *, pretty: bool) -> None:
    """Complain about a table of somebody else that has the name of one of ours."""
    names = _CREATED.findall(tables.render(tx.dialect.name, pretty=pretty))
    found = sqlalchemy.inspect(tx)
    present = {*found.get_table_names(), *found.get_view_names()}
    taken = [name for name in names if name in present]
    if taken and tables.version(tx) is None:  # else they were made a moment ago
        message = f"there is a table or view {taken[0]!r} already, which is not topiq's; install into another "
        message += _ELSEWHERE.get(tx.dialect.name, "schema")
        raise Failure(message)


def _count(database: Database) -> int | None:
    """Count all tasks, if the schema is one that we can read."""
    with database.raw_read() as tx:
        if tables.version(tx) is None:
            raise other_schema(None, tables.VERSION)
        try:
            counts = database.repository.count(tx, counting=Counting())
        except SchemaError:
            return None
    return sum(summary.count for states in counts.values() for summary in states.values())
