"""Users of PostgreSQL who have some of the shipped roles, and what they may call."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy
from psycopg import sql

from task_sql import create_repository, schema
from tests.schema.tables import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend

OWNER = "w-1"
"""The owner of every repository here: a name in the table of owners is no secret, and proves nothing."""


class Account:
    """A user who can log in."""

    def __init__(self, backend: Backend, name: str, password: str) -> None:
        url = sqlalchemy.make_url(backend.url).set(username=name, password=password)
        self.url = url.render_as_string(hide_password=False)
        """The URL that the user connects by."""
        self.dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        """The same, as the driver writes it."""
        self.repository: TaskRepository[Any] = create_repository(backend.engine, owner=OWNER)

    @contextmanager
    def begin(self) -> Iterator[psycopg.Connection[Any]]:
        """A transaction of the user, committed unless something is raised."""
        with psycopg.connect(self.dsn) as tx:
            yield tx

    def may(self, call: Callable[[psycopg.Connection[Any]], object]) -> bool:
        """Whether the user may do something, which is then undone."""
        with psycopg.connect(self.dsn) as tx:
            try:
                call(tx)
            except Exception as error:
                if not is_refusal(error):
                    raise
                return False
            finally:
                tx.rollback()
        return True


class Accounts:
    """The roles, rendered and run in a test's database, and users who have them."""

    def __init__(self, backend: Backend) -> None:
        self.prefix = f"t{secrets.token_hex(6)}"
        """What the names of the roles begin with: roles are the whole server's."""
        self._backend = backend
        self._names = [f"{self.prefix}_{role}" for role in schema.ROLES]
        execute(backend, schema.render_roles("postgresql", prefix=self.prefix))
        self._run("REVOKE CREATE ON SCHEMA public FROM PUBLIC")  # as it is from PostgreSQL 15 on

    def user(self, *roles: str) -> Account:
        """A new user with some of the roles."""
        name, password = f"{self.prefix}_user_{len(self._names)}", secrets.token_hex(8)
        self._names.append(name)
        self._run("CREATE ROLE {} LOGIN PASSWORD {}", sql.Identifier(name), sql.Literal(password))
        for role in roles:
            self._run("GRANT {} TO {}", sql.Identifier(f"{self.prefix}_{role}"), sql.Identifier(name))
        return Account(self._backend, name, password)

    def drop(self) -> None:
        """Remove the users and the roles."""
        names = sql.SQL(", ").join(map(sql.Identifier, self._names))
        self._run("DROP OWNED BY {}", names)
        self._run("DROP ROLE {}", names)

    def _run(self, statement: str, *parts: sql.Composable) -> None:
        with psycopg.connect(self._backend.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*parts))


def is_refusal(error: BaseException | None) -> bool:
    """Whether an error, or what it stands for, is that the user may not do something."""
    while error is not None:
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return True
        error = error.__cause__
    return False
