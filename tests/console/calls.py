"""Calls of the command line, as a script and a person make them."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from task_console import main

if TYPE_CHECKING:
    from tests.backends import Backend

COMMAND = (sys.executable, "-c", "from task_console import main; main(prog_name='topiq')")
"""The command in a process of its own."""


def invoke(*arguments: object, url: str | None = None, given: str | None = None) -> Result:
    """Run a command in this process, with this URL in the environment."""
    return CliRunner().invoke(main, [str(each) for each in arguments], input=given, env={"TOPIQ_URL": url})


def environment(url: str | None = None, **more: str) -> dict[str, str]:
    """The environment of a command in another process."""
    known = {name: value for name, value in os.environ.items() if name not in ("TOPIQ_URL", "COLUMNS", "LINES")}
    return known | ({} if url is None else {"TOPIQ_URL": url}) | more


class Topiq:
    """The command line on a test's database."""

    def __init__(self, backend: Backend) -> None:
        self.url = backend.url

    def __call__(self, *arguments: object, given: str | None = None) -> str:
        """What a command prints that succeeds."""
        result = invoke(*arguments, url=self.url, given=given)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    def lines(self, *arguments: object) -> list[list[str]]:
        """The words of each line that a command prints."""
        return [line.split() for line in self(*arguments).splitlines()]

    def json(self, *arguments: object, given: str | None = None) -> Any:  # noqa: ANN401 - any JSON
        """What a command prints with ``--json``."""
        return json.loads(self(*arguments, "--json", given=given))

    def fails(self, *arguments: object, given: str | None = None) -> tuple[int, str]:
        """The exit code of a command that fails, and the one line that it says."""
        return failure(invoke(*arguments, url=self.url, given=given))


def failure(result: Result) -> tuple[int, str]:
    """The exit code of a command that failed, and the one line that it said."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    [line] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert result.stderr.endswith(f"{line}\n")
    return result.exit_code, line.removeprefix("Error: ")
