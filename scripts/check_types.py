"""Run mypy over the packages, and over those folders that use them which exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = ("task_api", "task_sql", "task_processor", "task_console", "tests", "scripts")
OPTIONAL = ("benchmarks", "examples")


def main() -> int:
    """Give mypy's exit status."""
    folders = [*REQUIRED, *(name for name in OPTIONAL if (ROOT / name).is_dir())]
    command = [sys.executable, "-m", "mypy", *folders]
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - nothing from outside


if __name__ == "__main__":
    sys.exit(main())
