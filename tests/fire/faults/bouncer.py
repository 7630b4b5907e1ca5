"""PgBouncer in transaction mode between clients and server, from a program that is already on the machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Self

import sqlalchemy

from tests.fire.faults.node import free_port
from tests.fleet.crew import PATIENCE, eventually

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = """
[databases]
* = host=127.0.0.1 port={target} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = {size}
server_login_retry = 0.1
{more}
"""
# Ends what it started when its own input ends, which the operating system brings about.
_GUARD = """
import subprocess, sys, threading
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
threading.Thread(target=lambda: (sys.stdin.read(), program.kill()), daemon=True).start()
program.wait()
"""


class Bouncer:
    """A pooler that gives each transaction whatever connection is free."""

    def __init__(self, program: Path, target: int, folder: Path, *, size: int = 20, more: str = "") -> None:
        self.port = free_port()
        """Where to connect instead."""
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "pgbouncer.ini"
        settings.write_text(_SETTINGS.format(port=self.port, target=target, size=size, more=more), encoding="utf-8")
        # It does not run as root, but takes the name of a user to be instead.
        user = ("-u", "nobody") if os.geteuid() == 0 else ()
        self._log = folder / "pgbouncer.log"
        with self._log.open("wb") as log:
            self._guard = subprocess.Popen(  # noqa: S603 - ours
                [sys.executable, "-c", _GUARD, str(program), *user, str(settings)], stdin=subprocess.PIPE, stderr=log
            )
        eventually(self._listens, self._log.read_text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def through(self, url: str) -> str:
        """The same database through the pooler; clients must not prepare statements, nor listen."""
        changed = sqlalchemy.make_url(url).set(host="127.0.0.1", port=self.port)
        return changed.render_as_string(hide_password=False)

    def stop(self) -> None:
        """End it."""
        self._guard.communicate(timeout=PATIENCE)

    def _listens(self) -> bool:
        assert self._guard.poll() is None, self._log.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True
