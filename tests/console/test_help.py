"""The help: there for every command, quick, and the same in the documentation."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from task_console import main
from task_console.cli import COMMANDS
from task_console.errors import EXIT_CODES
from tests.console.calls import COMMAND, environment, invoke

NAMES = [name for section in COMMANDS.values() for name in section]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def command(name: str) -> click.Command:
    """The command itself."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def test_version_is_that_of_the_distribution() -> None:
    """The command line names the installed version."""
    assert invoke("--version").output == f"topiq {version('topiq')}\n"


def test_the_help_has_every_command_in_its_section() -> None:
    """With its summary."""
    lines = invoke("--help").stdout.splitlines()
    for section, entries in COMMANDS.items():
        start = lines.index(f"{section}:")
        for number, (name, entry) in enumerate(entries.items(), start + 1):
            assert lines[number].split(maxsplit=1) == [name, entry.summary]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself(name: str) -> None:
    """It is called as it is listed, has a help, options for scripts, and says what its JSON holds."""
    found = command(name)
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert found.name == name
    commands = found.commands.values() if isinstance(found, click.Group) else [found]
    for one in commands:
        assert one.help
        assert {"--json"} <= {option for parameter in one.params for option in parameter.opts}, one.name
        assert "JSON" in one.help or "json" in one.help, one.name
        undocumented = [each.name for each in one.params if isinstance(each, click.Option) and not each.help]
        assert undocumented == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_documented(name: str) -> None:
    """The page has a heading for it, and names every option of its own."""
    found = command(name)
    page = PAGE.read_text(encoding="utf-8")
    commands = found.commands.values() if isinstance(found, click.Group) else [found]
    for one in commands:
        path = name if one is found else f"{name} {one.name}"
        assert f"`topiq {path}" in page
        section = page.partition(f"### `topiq {name}")[2].partition("\n### ")[0]
        missing = [
            max(each.opts, key=len)
            for each in one.params
            if isinstance(each, click.Option) and each.name not in ("url", "as_json", "yes")
            if f"`{max(each.opts, key=len)}" not in section
        ]
        assert missing == [], path


def test_every_exit_code_is_in_the_documentation() -> None:
    """With the meaning that the help has."""
    page = PAGE.read_text(encoding="utf-8")
    for code, meaning in EXIT_CODES.items():
        assert f"| {code:d} | {meaning} |" in page


def test_an_unknown_command_is_told() -> None:
    """With exit code 2."""
    result = invoke("frobnicate")
    assert result.exit_code == 2
    assert "No such command 'frobnicate'" in result.stderr


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_import_nothing_heavy(argument: str) -> None:
    """They are there before the libraries that other commands need are loaded."""
    program = (
        "import sys; from task_console import main\n"
        f"try: main([{argument!r}])\n"
        "finally: print([name for name in ('sqlalchemy', 'rich', 'task_sql', 'asyncio') if name in sys.modules])"
    )
    result = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment(), timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_command_is_installed() -> None:
    """The script of the distribution calls it."""
    result = subprocess.run(  # noqa: S603 - ours
        [*COMMAND, "--version"], capture_output=True, text=True, check=True, env=environment(), timeout=60
    )
    assert result.stdout == f"topiq {version('topiq')}\n"
