"""The documentation runs: its Python is executed, and its commands exist."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from task_console import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"\[[^\]]+\]\((?!https?://)([^)#]+)")


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of one language with a name for each: its page and its line."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = []
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        for match in fence.finditer(content):
            line = content.count("\n", 0, match.start()) + 1
            found.append((f"{page.relative_to(ROOT).as_posix()}:{line}", match.group(1)))
    return found


PYTHON = blocks("python")
COMMANDS = [
    (name, command.strip())
    for name, block in blocks("console")
    for line in block.splitlines()
    if line.startswith("$ ")
    for command in line.removeprefix("$ ").split("&&")
]


@pytest.mark.parametrize("source", [source for _, source in PYTHON], ids=[name for name, _ in PYTHON])
def test_python_runs_as_it_stands(source: str, tmp_path: Path) -> None:
    """Each Python block is a whole program that runs in an empty folder, without a warning."""
    (tmp_path / "block.py").write_text(source, encoding="utf-8")
    result = subprocess.run(
        # An engine's pool may hold connections to the end of a program: that is no mistake of the example's.
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "block.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", [command for _, command in COMMANDS])
def test_command_exists(command: str) -> None:
    """Each command is one that works here: an installation, tox, or a call of topiq."""
    program, *arguments = shlex.split(command)
    if program == "topiq":
        result = CliRunner().invoke(main, arguments)
        assert (result.exit_code, result.exception) == (0, None)
    elif program == "tox":
        assert _tox_environments() == ["lint", "types", "py"]
    else:
        assert [program, *arguments[:1]] == ["pip", "install"]
        assert set(arguments[1:]) <= {"tox", *_installable()}


def test_readme_shows_the_two_commands() -> None:
    """A reader can try it and check it with one line each."""
    assert [command for name, command in COMMANDS if name.startswith("README.md")] == [
        "pip install .",
        "topiq demo",
        "pip install tox",
        "tox",
    ]


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that exists."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def _installable() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {".", *(f".[{extra}]" for extra in project["optional-dependencies"])}


def _tox_environments() -> list[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return [name.strip() for name in parser["tox"]["env_list"].split(",")]
