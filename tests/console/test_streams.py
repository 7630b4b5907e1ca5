"""Where a command reads and writes: a full disk, a closed input, and an output that can't spell everything."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.console.calls import COMMAND, environment

if TYPE_CHECKING:
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite")]
_PATIENCE = 60


def call(topiq: Topiq, *arguments: str, redirected: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a shell that redirects its streams."""
    command = ["/bin/sh", "-c", f'exec "$@" {redirected}', "sh", *COMMAND, *arguments]
    env = environment(topiq.url, **more)
    return subprocess.run(command, env=env, input=b"", capture_output=True, timeout=_PATIENCE, check=False)  # noqa: S603 - ours


@pytest.mark.parametrize(
    "arguments",
    [
        ("push", "orders", "z"),
        ("list", "orders"),
        ("list", "orders", "--json"),
        ("watch", "--samples", "1"),
        ("schema", "sql"),
        ("--help",),
        ("demo", "--tasks", "5"),
    ],
)
def test_an_answer_that_can_not_be_written_is_told(topiq: Topiq, arguments: tuple[str, ...]) -> None:
    """In one line, with an exit code of its own; what was to be done is done."""
    topiq("init", "orders")
    topiq("push", "orders", "a")
    result = call(topiq, *arguments, redirected="> /dev/full")
    assert (result.returncode, result.stderr.decode()) == (
        6,
        "Error: the answer can't be written: No space left on device\n",
    )
    assert topiq.json("count")["orders"]["READY"]["count"] == 1 + (arguments[0] == "push")


def test_what_is_said_beside_the_answer_is_no_matter(topiq: Topiq) -> None:
    """A purge that was allowed is done, also if its progress can't be written."""
    topiq("init", "orders")
    topiq("push", "orders", "a", "--suspended")
    chosen = ("--before", "now", "--state", "SUSPENDED", "--yes")
    result = call(topiq, "purge", "orders", *chosen, redirected="2> /dev/full")
    assert (result.returncode, result.stdout) == (0, b"1 task of orders is deleted\n")


def test_a_closed_input_holds_no_tasks(topiq: Topiq) -> None:
    """That is a wrong argument."""
    topiq("init", "orders")
    result = call(topiq, "push", "orders", "--from-file", "-", redirected="<&-")
    assert result.returncode == 2
    assert result.stderr.decode().endswith("'--from-file': the standard input is closed\n")


def test_a_closed_input_is_no_answer(topiq: Topiq) -> None:
    """A program that forgot --yes deletes nothing, and is told of it."""
    topiq("init", "orders")
    result = call(topiq, "destroy", "orders", redirected="<&-")
    assert result.returncode == 1
    assert result.stderr.decode().endswith(
        "Error: nothing was changed; answer y, or pass --yes to do it without being asked\n"
    )
    assert len(topiq.json("topics")) == 1


def test_what_an_output_can_not_spell_is_escaped(topiq: Topiq) -> None:
    """In what people read as in JSON, which stays what it is."""
    topiq("init", "orders")
    topiq("push", "orders", "a…😀")
    latin = {"PYTHONIOENCODING": "latin-1"}
    shown = call(topiq, "list", "orders", **latin)
    assert (shown.returncode, b"  a\\u2026\\U0001f600  " in shown.stdout) == (0, True)
    read = call(topiq, "list", "orders", "--json", **latin)
    assert json.loads(read.stdout)[0]["identifier"] == "a…😀"
    look = call(topiq, "watch", "--samples", "1", "--json", **latin)
    assert json.loads(look.stdout)["topics"][0]["topic"] == "orders"
