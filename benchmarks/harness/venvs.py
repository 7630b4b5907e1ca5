"""The virtual environments of the peers, made from pinned requirements."""

import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["VenvError", "Venvs"]

_REQUIREMENTS: Final = Path(__file__).resolve().parent.parent / "requirements"
_LINES: Final = 5


class VenvError(Exception):
    """An environment could not be made."""


class Venvs:
    """Environments in a folder, kept until their requirements change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failed: dict[str, VenvError] = {}

    def python(self, name: str | None) -> str:
        """The interpreter of an environment, which is made if need be; None is the harness's own."""
        if name is None:
            return sys.executable
        if name in self._failed:
            raise self._failed[name]
        folder = self._folder / name
        python, stamp = folder / "bin" / "python", folder / "made-from.txt"
        requirements = _REQUIREMENTS / f"{name}.txt"
        wanted = f"{sys.version}\n{requirements.read_text(encoding='utf-8')}"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            try:
                self._make(folder, python, requirements)
            except VenvError as error:
                self._failed[name] = error
                raise
            stamp.write_text(wanted, encoding="utf-8")
        return str(python)

    @staticmethod
    def _make(folder: Path, python: Path, requirements: Path) -> None:
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
            if done.returncode:
                last = "\n".join(done.stderr.strip().splitlines()[-_LINES:])
                message = f"{' '.join(command)}\n{last}"
                raise VenvError(message)
