"""How each test gets a database of its own: a copy of a template in which the schema is installed once."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import sqlalchemy
from psycopg import sql

import task_sql
from task_api import SchemaError
from tests.oracle import double

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class SqliteProvision:
    """Copies of one template file."""

    def __init__(self, folder: Path) -> None:
        self._template = folder / "template.db"
        _install(f"sqlite:///{self._template}", partitioned=False)
        # The copy takes the main file alone, so nothing may wait in the write-ahead log.
        with closing(sqlite3.connect(self._template)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def create(self, folder: Path) -> str:
        """Put a fresh database into this folder and give its URL."""
        path = folder / "topiq.db"
        shutil.copyfile(self._template, path)
        return f"sqlite:///{path}"


class PostgresProvision:
    """Databases cloned from template databases on one server, which several processes may share."""

    _create_template = "CREATE DATABASE {}"

    def __init__(self, url: str) -> None:
        self._url = url
        self._prefix = f"topiq_{uuid4().hex[:12]}"
        self._count = 0
        self._templates: dict[tuple[bool, tuple[str, ...]], str] = {}
        self._connection: psycopg.Connection | None = None

    @contextmanager
    def create(self, *, partitioned: bool, topics: tuple[str, ...] = ()) -> Iterator[str]:
        """Give the URL of a fresh database with topics, which is dropped on exit."""
        template = self._template(partitioned, topics)
        self._count += 1
        name = f"{self._prefix}_{self._count}"
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, template)
        try:
            yield self._database_url(name)
        finally:
            self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        """Drop the templates."""
        for name in self._templates.values():
            self._execute("DROP DATABASE {} WITH (FORCE)", name)
        self._templates.clear()
        if self._connection:
            self._connection.close()

    def _template(self, partitioned: bool, topics: tuple[str, ...]) -> str:  # noqa: FBT001 - a key
        if (partitioned, topics) not in self._templates:
            name = f"{self._prefix}_template_{len(self._templates)}"
            self._execute(self._create_template, name)
            # Known before it is filled, so that it is dropped also when the installation fails.
            self._templates[partitioned, topics] = name
            self._fill(self._database_url(name), partitioned, topics)
        return self._templates[partitioned, topics]

    def _fill(self, url: str, partitioned: bool, topics: tuple[str, ...]) -> None:  # noqa: FBT001 - a key
        _install(url, partitioned=partitioned, topics=topics)

    def _database_url(self, name: str) -> str:
        url = sqlalchemy.make_url(self._url).set(drivername="postgresql+psycopg", database=name)
        return url.render_as_string(hide_password=False)

    def _execute(self, statement: str, *names: str) -> None:
        composed = sql.SQL(statement).format(*map(sql.Identifier, names))
        try:
            self._admin().execute(composed)
        except psycopg.OperationalError:  # a test has restarted the server
            self._admin().execute(composed)

    def _admin(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
        return self._connection


class DoubleProvision(PostgresProvision):
    """Databases of PostgreSQL that the double of Oracle executes on; their URLs are the double's."""

    # Oracle compares texts by their bytes, unless told otherwise.
    _create_template = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"

    def __init__(self, url: str, *, install: bool = True) -> None:
        super().__init__(url)
        self._with_schema = install
        double.register()

    def _fill(self, url: str, partitioned: bool, topics: tuple[str, ...]) -> None:  # noqa: FBT001 - a key
        double.found(str(sqlalchemy.make_url(url).query["dsn"]))
        if self._with_schema:
            super()._fill(url, partitioned, topics)

    def _database_url(self, name: str) -> str:
        url = sqlalchemy.make_url(self._url).set(database=name)
        return double.url(url.render_as_string(hide_password=False))


class OracleProvision:
    """The one schema of a server, which each test gets as if nothing had ever been in it."""

    _TABLES = ("task", "task_topic", "task_owner", "task_activation", "task_mutex")

    def __init__(self, url: str) -> None:
        self._url = url
        self._engine = task_sql.create_engine(url)

    @contextmanager
    def create(self, *, partitioned: bool, topics: tuple[str, ...] = ()) -> Iterator[str]:
        """Give the URL of the schema, installed and empty but for topics."""
        with self._engine.begin() as connection:
            try:
                task_sql.schema.install(connection, partitioned=partitioned)
            except SchemaError:  # installed in another way, or left half done by a test
                task_sql.schema.uninstall(connection)
                task_sql.schema.install(connection, partitioned=partitioned)
            for table in self._TABLES:
                connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608 - ours
            _initialize(self._engine, connection, topics)
        yield self._url

    def close(self) -> None:
        """Remove the schema."""
        with self._engine.begin() as connection:
            task_sql.schema.uninstall(connection)
        self._engine.dispose()


def _install(url: str, *, partitioned: bool, topics: tuple[str, ...] = ()) -> None:
    engine = task_sql.create_engine(url)
    try:
        with engine.begin() as connection:
            task_sql.schema.install(connection, partitioned=partitioned)
            _initialize(engine, connection, topics)
    finally:
        engine.dispose()


def _initialize(engine: sqlalchemy.Engine, connection: sqlalchemy.Connection, topics: tuple[str, ...]) -> None:
    repository = task_sql.create_repository(engine)
    for topic in topics:
        repository.initialize(connection, topic)
