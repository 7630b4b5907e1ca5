"""What the figures depend on: the machine, its load, its disk, and versions."""

import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, Final

from .server import Server

__all__ = ["about", "commit_milliseconds"]

_WRITES: Final = 20
_PAGE: Final = b"x" * 8192


def about(server: Server | None) -> dict[str, Any]:
    """What to say about a run."""
    found: dict[str, Any] = {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {_processor()}",
        "Python": sys.version.split()[0],
        **{package: _version(package) for package in ("topiq", "sqlalchemy", "psycopg", "psycopg-binary")},
    }
    if server is not None:
        found["PostgreSQL"] = server.version()
        found["settings"] = ", ".join(f"{name} = {value}" for name, value in server.settings().items())
    return found


def commit_milliseconds(folder: Path) -> float:
    """How long the disk takes for a page that must be there: what a commit costs at least."""
    path = folder / "probe"
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        times = []
        for _ in range(_WRITES):
            started = time.perf_counter()
            os.pwrite(file, _PAGE, 0)
            os.fsync(file)
            times.append(time.perf_counter() - started)
    finally:
        os.close(file)
        path.unlink()
    return 1000 * median(times)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
