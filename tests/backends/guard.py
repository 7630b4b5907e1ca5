"""
Stops a server when the process that started it is gone, however that process ended.

Run as a program with the server's folder as argument. It waits for the end of its standard input, which the
operating system brings about even when the test session is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

_PATIENCE = 30


def stop(data: Path) -> None:
    """Stop the server of this data folder, if one runs, without care for its data."""
    file = data / "postmaster.pid"
    if not file.exists():
        return
    # Read now, not when the guard began: a test may have restarted the server.
    process = int(file.read_text(encoding="utf-8").splitlines()[0])
    deadline = time.monotonic() + _PATIENCE
    try:
        os.kill(process, signal.SIGQUIT)
        while time.monotonic() < deadline:
            os.kill(process, 0)
            time.sleep(0.02)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    sys.stdin.read()
    folder = Path(sys.argv[1])
    stop(folder / "data")
    shutil.rmtree(folder, ignore_errors=True)
