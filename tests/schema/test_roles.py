"""Roles as SQL: rendered for each database that has users, and run as it is."""

import re
import secrets
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg import sql

from task_api import InvalidTaskError
from task_sql import schema
from task_sql.schema.scripts import migrations, statements
from tests.backends import Backend
from tests.oracle.static import collection
from tests.schema.tables import execute

postgresql = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver", "plain")]
WITH_USERS = ("postgresql", "oracle")
PRIVATE = {"task_specimen", "task_initialize", "task_plan", "task_loosen"}
"""What is there for the owner of the tables alone."""
_WHOLE = {"task_mutex", "task_claim"}
"""Tables of one purpose, of which no column is named."""
_GRANTS = """
SELECT c.relname::text, NULL::text, a.grantee::regrole::text, a.privilege_type
FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT c.relname::text, t.attname::text, a.grantee::regrole::text, a.privilege_type
FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
WHERE c.relnamespace = 'public'::regnamespace
ORDER BY 1, 2, 3, 4
"""


@pytest.fixture
def prefix(backend: Backend) -> Iterator[str]:
    """A prefix whose roles are removed from the server in the end."""
    name = f"t{secrets.token_hex(6)}"
    yield name
    roles = sql.SQL(", ").join(sql.Identifier(f"{name}_{role}") for role in schema.ROLES)
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP OWNED BY {}").format(roles))
        connection.execute(sql.SQL("DROP ROLE {}").format(roles))


def _granted(backend: Backend, prefix: str) -> list[tuple[Any, ...]]:
    return [row for row in backend.sql(_GRANTS) if str(row[2]).startswith(prefix)]


def test_sqlite_has_no_users() -> None:
    """The error says what protects a file."""
    with pytest.raises(InvalidTaskError, match=r"SQLite has no users.*protect the file"):
        schema.render_roles("sqlite")


@pytest.mark.parametrize("name", ["mysql", "", "PostgreSQL", "../oracle"])
def test_an_unknown_database_has_no_roles(name: str) -> None:
    """The error names those that have."""
    with pytest.raises(InvalidTaskError, match="only for postgresql, oracle"):
        schema.render_roles(name)


@pytest.mark.parametrize("name", WITH_USERS)
@pytest.mark.parametrize("prefix", ["", "1a", "A", "a b", "a; DROP TABLE task", 'a"', "a" * 41, "ä", "a\n", None, 1])
def test_a_prefix_can_only_be_a_name(name: str, prefix: Any) -> None:  # noqa: ANN401 - whatever is passed
    """It becomes part of a statement, so that nothing else is taken."""
    with pytest.raises(InvalidTaskError, match="a prefix is"):
        schema.render_roles(name, prefix=prefix)


@pytest.mark.parametrize("name", WITH_USERS)
def test_the_prefix_is_that_of_every_role(name: str) -> None:
    """And none keeps the name that it has without."""
    script = schema.render_roles(name, prefix="shop")
    assert {f"shop_{role}" for role in schema.ROLES} == set(re.findall(r"\bshop_\w+", script))
    code = "\n".join(statements(script))
    assert "topiq" not in code


@pytest.mark.parametrize("name", WITH_USERS)
def test_roles_and_the_view_can_be_left_out(name: str) -> None:
    """For an owner of tables who may not create roles, and for a schema without the view."""
    assert "CREATE ROLE" in schema.render_roles(name)
    assert "CREATE ROLE" not in schema.render_roles(name, create=False)
    assert "task_pretty" in schema.render_roles(name)
    assert "task_pretty" not in schema.render_roles(name, pretty=False)


@pytest.mark.parametrize("name", WITH_USERS)
def test_every_table_was_thought_of(name: str) -> None:
    """A table, view or sequence that a migration brings is granted to somebody, or is private on purpose."""
    code = "\n".join(text for each in migrations(name) for text in statements(each.script))
    pattern = r"CREATE (?:GLOBAL TEMPORARY )?(?:TABLE|VIEW|SEQUENCE|FUNCTION) (\w+)"
    made = set(re.findall(pattern, code)) - PRIVATE
    granted = {table for text in statements(schema.render_roles(name)) for table in re.findall(r"\btask\w*", text)}
    assert sorted(made - granted) == []


@pytest.mark.parametrize("name", WITH_USERS)
def test_no_role_gets_everything_or_may_pass_it_on(name: str) -> None:
    """Rights are named one by one."""
    code = "\n".join(statements(schema.render_roles(name)))
    assert "GRANT ALL" not in code
    assert "GRANT OPTION" not in code
    assert "PUBLIC" not in code
    assert "SECURITY DEFINER" not in code


def test_an_operator_on_oracle_is_granted_what_the_repository_writes() -> None:
    """All columns, and no others than there are; what makes and destroys topics is left to the owner of the tables."""
    granted = _granted_on_oracle("operator")
    written = {part for text in collection.repository().values() for part in _written(text)}
    left = {part for part in written if part[1] == "task_topic"} | {("DELETE", "task_activation", "")}
    assert ("UPDATE", "task", "lease") in written
    assert sorted(written - left - granted) == []
    assert sorted(part for part in granted if part[0] == "UPDATE" and part not in written) == []


def test_a_producer_on_oracle_can_not_write_a_claim() -> None:
    """Nor delete, without the role for that."""
    granted = _granted_on_oracle("producer")
    assert {part for part in granted if part[0] == "DELETE"} == {("DELETE", "task_mutex", "")}
    assert {column for verb, table, column in granted if (verb, table) == ("UPDATE", "task")}.isdisjoint(
        {"owner", "token", "attempt", "polled", "lease", "input"}
    )


def _granted_on_oracle(role: str) -> set[tuple[str, str, str]]:
    """What a role may write: the verb, the table, and the column where one is named."""
    found = set()
    for text in statements(schema.render_roles("oracle")):
        match = re.fullmatch(r"GRANT (.*) ON (\w+)\s+TO ([\w, ]+)", text, re.DOTALL)
        if match and f"topiq_{role}" in match[3].split(", "):
            for verb, columns in re.findall(r"(INSERT|UPDATE|DELETE)(?: \(([^)]*)\))?", match[1]):
                found |= {(verb, match[2], column) for column in re.findall(r"\w+", columns) or [""]}
    return found


def _written(text: str) -> Iterator[tuple[str, str, str]]:
    """What a statement writes; columns that are compared among those that are set are taken for such."""
    merged = re.search(r"MERGE INTO (\w+)", text)
    for table, columns in re.findall(r"INSERT (?:INTO (\w+) )?\(([^)]*)\)", text):
        name = table or (merged[1] if merged else "")
        yield from (("INSERT", name, "" if name in _WHOLE else column) for column in re.findall(r"\w+", columns))
    for table, columns in re.findall(
        r"UPDATE (?:(\w+)(?: \w)? )?SET\s(.*?)(?:\nWHERE|WHEN NOT|\Z| WHERE)", text, re.DOTALL
    ):
        name = table or (merged[1] if merged else "")
        yield from (("UPDATE", name, column) for column in re.findall(r"(?:\b\w\.)?\b([a-z_]+) =", columns))
    for table in re.findall(r"DELETE FROM (\w+)", text):
        yield "DELETE", table, ""


class TestOnPostgresql:
    """The script runs as it is, by the owner of the tables."""

    pytestmark = postgresql

    def test_to_run_it_again_changes_nothing(self, backend: Backend, prefix: str) -> None:
        """After an upgrade it is run once more."""
        script = schema.render_roles("postgresql", prefix=prefix)
        execute(backend, script)
        once = _granted(backend, prefix)
        execute(backend, script)
        assert _granted(backend, prefix) == once
        assert {f"{prefix}_{role}" for role in schema.ROLES} == {row[2] for row in once}

    def test_what_is_needed_no_more_is_taken_back(self, backend: Backend, prefix: str) -> None:
        """A right that an earlier version gave, or somebody by hand, on a table or on a column."""
        script = schema.render_roles("postgresql", prefix=prefix)
        execute(backend, script)
        once = _granted(backend, prefix)
        backend.sql(f"GRANT TRUNCATE ON task TO {prefix}_reader")
        backend.sql(f"GRANT UPDATE (topic) ON task TO {prefix}_worker")
        assert _granted(backend, prefix) != once
        execute(backend, schema.render_roles("postgresql", prefix=prefix, create=False))
        assert _granted(backend, prefix) == once

    def test_an_owner_without_further_rights_can_run_it(self, backend: Backend, prefix: str) -> None:
        """If a DBA has created the roles, which takes another right."""
        owner = f"{prefix}_owner"
        backend.sql(f"CREATE ROLE {owner} LOGIN")
        backend.sql(f"CREATE SCHEMA mine AUTHORIZATION {owner}")
        try:
            for role in schema.ROLES:
                backend.sql(f"CREATE ROLE {prefix}_{role} NOLOGIN")
            with closing(psycopg.connect(backend.dsn, options=f"-c role={owner} -c search_path=mine")) as tx:
                schema.install(tx, partitioned=backend.partitioned)
                tx.execute(schema.render_roles("postgresql", prefix=prefix).encode())
                tx.commit()
            usage = f"SELECT has_schema_privilege('{prefix}_reader', 'mine', 'USAGE')"
            assert backend.sql(usage) == [(True,)]
            assert _granted(backend, prefix) == [], "the tables of the first schema are no matter"
        finally:
            backend.sql(f"DROP OWNED BY {owner} CASCADE")
            backend.sql(f"DROP ROLE {owner}")

    def test_functions_that_are_not_everybody_s_are_granted(self, backend: Backend, prefix: str) -> None:
        """Where a DBA has taken back what PostgreSQL lets everybody call."""
        backend.sql("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
        execute(backend, schema.render_roles("postgresql", prefix=prefix))
        callable_by = {
            role: {
                name
                for name, allowed in backend.sql(
                    "SELECT proname, has_function_privilege(:role, oid, 'EXECUTE') FROM pg_proc"
                    " WHERE pronamespace = 'public'::regnamespace",
                    role=f"{prefix}_{role}",
                )
                if allowed
            }
            for role in schema.ROLES
        }
        every = {name for (name,) in backend.sql("SELECT proname FROM pg_proc WHERE proname LIKE 'task_%'")}
        assert callable_by["producer"] == {"task_known", "task_push"}
        assert callable_by["worker"] == callable_by["operator"] == every - PRIVATE
        assert callable_by["reader"] == callable_by["deleter"] == set()

    def test_without_the_tables_nothing_is_granted(self, backend: Backend, prefix: str) -> None:
        """The script stops at what is missing."""
        with backend.begin() as tx:
            schema.uninstall(tx)
        for role in schema.ROLES:
            backend.sql(f"CREATE ROLE {prefix}_{role} NOLOGIN")
        with pytest.raises(psycopg.errors.UndefinedTable):
            execute(backend, schema.render_roles("postgresql", prefix=prefix))
