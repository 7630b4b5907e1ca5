"""Where the demonstration runs: a place of its own, which is removed afterwards unless it is to be kept."""

from __future__ import annotations

import re
import secrets
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import event, text

import task_sql
from task_console.database import Database
from task_console.errors import Exit, Failure
from task_console.redaction import redacted
from task_console.urls import parsed_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

__all__ = ["Place", "place"]

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Place:
    """An empty database, or a part of one that is as good."""

    engine: Engine
    """Where connections come from."""
    url: str | None
    """The URL by which it can be looked into afterwards, without secrets, if it is kept."""


@contextmanager
def place(url: str | None, keep: str | None) -> Iterator[Place]:
    """Give a place: a SQLite file, or a schema in the PostgreSQL database at the URL."""
    if url is None:
        with _file(keep) as made:
            yield made
        return
    parsed = parsed_url(url)
    if parsed.get_backend_name() != "postgresql":
        message = "--url is for PostgreSQL; on SQLite the demo makes a file of its own, which --keep can name"
        raise Failure(message, Exit.USAGE)
    with Database.opened(url) as database, _schema(database, keep) as made:
        yield made


@contextmanager
def _file(keep: str | None) -> Iterator[Place]:
    if keep is not None:
        path = Path(keep)
        _require_new(path)
        with _engine(path) as engine:
            yield Place(engine, f"sqlite:///{path}")
        return
    with tempfile.TemporaryDirectory(prefix="topiq-demo-") as folder, _engine(Path(folder) / "demo.db") as engine:
        yield Place(engine, None)


@contextmanager
def _engine(path: Path) -> Iterator[Engine]:
    engine = task_sql.create_engine(f"sqlite:///{path}")
    try:
        yield engine
    finally:
        engine.dispose()


def _require_new(path: Path) -> None:
    """Complain about a path that cannot become a new database."""
    if path.exists():
        message = f"{path} already exists; name a new file with --keep"
        raise Failure(message, Exit.USAGE)
    if not path.parent.is_dir():
        message = f"the folder {path.parent} does not exist"
        raise Failure(message, Exit.USAGE)


@contextmanager
def _schema(database: Database, keep: str | None) -> Iterator[Place]:
    """Give a schema of its own, so that nothing that is in the database already is touched."""
    name = f"topiq_demo_{secrets.token_hex(4)}" if keep is None else keep
    if not _NAME.fullmatch(name):
        message = f"{name!r} can't be the name of a schema; write it in small letters, digits and _"
        raise Failure(message, Exit.USAGE)
    with database.engine.begin() as connection:
        present = connection.execute(text("SELECT 1 FROM pg_namespace WHERE nspname = :name"), {"name": name}).scalar()
        if present:
            message = f"the schema {name} already exists; name a new one with --keep"
            raise Failure(message, Exit.USAGE)
        connection.execute(text(f"CREATE SCHEMA {name}"))

    # In each transaction, not once for a connection: a pooler may give every transaction another one.
    @event.listens_for(database.engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(f"SET LOCAL search_path TO {name}")

    try:
        found = redacted(database.url.update_query_dict({"options": f"-csearch_path={name}"}))
        yield Place(database.engine, None if keep is None else found)
    finally:
        if keep is None:
            with database.engine.begin() as connection:
                connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
