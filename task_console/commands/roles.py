"""``topiq schema roles``: least privilege, as SQL for those who may grant it."""

from __future__ import annotations

import click

from task_console.database import answering
from task_console.options import json_option, url_option
from task_console.render import Output
from task_console.urls import parsed_url
from task_sql import schema as tables
from task_sql.schema.scripts import DATABASES

__all__ = ["roles"]


@click.command()
@click.option("--database", "name", type=click.Choice(DATABASES), help="For which database; by default the URL's.")
@click.option("--prefix", default="topiq", show_default=True, help="What the names of the roles begin with.")
@click.option("--no-create", is_flag=True, help="Leave the creation of the roles out: somebody has done it.")
@click.option("--no-pretty", is_flag=True, help="Leave the view task_pretty out.")
@url_option
@json_option
def roles(name: str | None, prefix: str, url: str | None, *, as_json: bool, no_create: bool, no_pretty: bool) -> None:
    """
    Print the SQL that gives readers, producers, workers and operators what they need of the tables, and no more.

    To be read and run by the owner of the tables, again after each upgrade. The database is not touched; only its
    kind matters. SQLite has no users. JSON: {database, roles, sql}.
    """
    if name is None:
        name = parsed_url(url).get_backend_name()
    with answering(None):
        text = tables.render_roles(name, prefix=prefix, create=not no_create, pretty=not no_pretty)
    names = [f"{prefix}_{role}" for role in tables.ROLES]
    Output(as_json=as_json).answer({"database": name, "roles": names, "sql": text}, text.rstrip("\n"))
