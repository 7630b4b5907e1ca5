"""``topiq schema roles``: the roles as SQL, without a look at the database."""

from __future__ import annotations

import json

import pytest

from task_sql import schema
from tests.console.calls import failure, invoke

SERVERLESS = "postgresql://nobody:s3cret@127.0.0.1:1/none"


@pytest.mark.parametrize("database", ["postgresql", "oracle"])
def test_the_sql_is_what_the_library_renders(database: str) -> None:
    """No URL is needed."""
    result = invoke("schema", "roles", "--database", database)
    assert result.exit_code == 0, result.output
    assert result.stdout == schema.render_roles(database)


def test_the_database_may_be_that_of_the_url() -> None:
    """Which is not connected to."""
    value = json.loads(invoke("schema", "roles", "--json", url=SERVERLESS).stdout)
    assert value["database"] == "postgresql"
    assert value["roles"] == [f"topiq_{role}" for role in schema.ROLES]
    assert value["sql"] == schema.render_roles("postgresql")


def test_names_and_parts_can_be_chosen() -> None:
    """As in the library."""
    options = ["--prefix", "shop", "--no-create", "--no-pretty"]
    result = invoke("schema", "roles", "--database", "oracle", *options)
    assert result.stdout == schema.render_roles("oracle", prefix="shop", create=False, pretty=False)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--database", "sqlite"], "SQLite has no users"),
        (["--database", "oracle", "--prefix", "a; DROP ROLE b"], "a prefix is up to 40 of a-z"),
    ],
)
def test_what_can_not_be_is_told(arguments: list[str], reason: str) -> None:
    """In a line, with the exit code of wrong arguments."""
    code, line = failure(invoke("schema", "roles", *arguments))
    assert code == 2
    assert line.startswith(reason)
