"""Asks PyPI about known vulnerabilities of all that topiq brings along, with every extra; fails without an answer."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Return 0 if nothing is known about any of the packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "requirements.txt"
        path.write_text("".join(f"{requirement}\n" for each in lists for requirement in each), "utf-8")
        # Strict: a package that nobody could tell anything about is a failure, not a success.
        command = [sys.executable, "-m", "pip_audit", "--strict", "--progress-spinner", "off", "-r", str(path)]
        return subprocess.run([*command, *sys.argv[1:]], check=False).returncode  # noqa: S603 - ours


if __name__ == "__main__":
    sys.exit(main())
