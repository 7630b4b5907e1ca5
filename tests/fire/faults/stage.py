"""A small scene for the tests of single faults, with processes that do next to nothing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fleet.crew import PATIENCE, ROOT, eventually

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from pathlib import Path

    from tests.fire.faults.cluster import Cluster
    from tests.fire.faults.proxy import Proxy

# It ends with its standard input, so that none outlives the tests.
_PRELUDE = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(99)), daemon=True).start()
sys.path.append(sys.argv[1])
diary = open(sys.argv[2], "a", buffering=1)
"""
TICKING = """
import time
while True:
    print(time.monotonic(), file=diary)
    time.sleep(0.01)
"""
"""A program that writes down the time again and again."""


class Extra:
    """A process that runs a short program, which writes lines to ``diary``."""

    kind = "worker"

    def __init__(self, name: str, folder: Path, program: str = TICKING, *arguments: str) -> None:
        self.name = name
        self._diary = folder / f"{name}.txt"
        self._command = [sys.executable, "-c", _PRELUDE + program, str(ROOT), str(self._diary), *arguments]
        self._process = self._start()

    @property
    def pid(self) -> int:
        """The present process."""
        return self._process.pid

    @property
    def lines(self) -> list[str]:
        """What it has written so far, all its processes together."""
        return self._diary.read_text(encoding="utf-8").splitlines()

    def wait(self, number: int = 1) -> list[str]:
        """Wait until it has written so many lines more."""
        before = len(self.lines)
        eventually(lambda: len(self.lines) >= before + number, lambda: self.lines[-20:])
        return self.lines[before:]

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.communicate(timeout=PATIENCE)

    def restart(self) -> None:
        """Start it again."""
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        self._diary.touch()
        return subprocess.Popen(self._command, stdin=subprocess.PIPE)  # noqa: S603 - ours


@dataclass
class Stage:
    """The scene."""

    folder: Path
    database: str = "postgresql"
    silence: float = 0.5
    members: Sequence[Extra] = ()
    cluster: Cluster | None = None
    proxy: Proxy | None = None
    database_file: Path | None = None
    url: str = ""
    admin_url: str = ""

    def dismiss(self) -> None:
        """End its processes."""
        for member in self.members:
            member.kill()
