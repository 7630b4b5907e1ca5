"""What commands show on a real terminal, 80 columns and wide."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.steps import complete, poll, push
from tests.console.calls import COMMAND, environment

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite")]
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PATIENCE = 60


def shown(width: int, url: str | None, *arguments: str) -> str:
    """What a command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    env = environment(url, COLUMNS=str(width), LINES="30", TERM="xterm-256color")
    try:
        with subprocess.Popen([*COMMAND, *arguments], env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:  # noqa: S603 - ours
            os.close(theirs)
            written = _read(ours)
            assert process.wait(_PATIENCE) == 0, written
    finally:
        os.close(ours)
    return written


def _read(terminal: int) -> str:
    parts: list[bytes] = []
    deadline = time.monotonic() + _PATIENCE
    while select.select([terminal], [], [], max(deadline - time.monotonic(), 0))[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how a terminal says that nobody writes to it any more
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
    pytest.fail(f"the command goes on: {b''.join(parts).decode()}")


def lines(written: str) -> list[str]:
    """The lines, also those that were drawn over, without colours and movements."""
    return _ESCAPES.sub("", written.replace("\x1b[2K", "\n")).splitlines()


@pytest.mark.parametrize("width", [80, 160])
def test_a_list_fits_the_terminal(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, width: int
) -> None:
    """Long identifiers are cut, the other columns are whole, and states have colours."""
    push(backend, repository, topic, "x" * 300, "short")
    complete(backend, repository, topic, poll(backend, repository, topic))
    written = shown(width, topiq.url, "list", topic)
    assert "\x1b[32mSUCCEEDED" in written
    found = lines(written)
    assert max(map(len, found)) <= width
    [row] = [line for line in found if "xxx" in line]
    assert re.search(r"xxx….* SUCCEEDED +1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", row)


@pytest.mark.parametrize("width", [80, 160])
def test_a_live_view_is_drawn(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, width: int
) -> None:
    """Each look is drawn over the one before."""
    push(backend, repository, topic, "a", "b")
    written = shown(width, topiq.url, "watch", "--samples", "2", "--interval", "10ms")
    assert "\x1b[1A" in written
    found = lines(written)
    assert max(map(len, found)) <= width
    assert [line.split()[:3] for line in found if line.startswith("  topic ")][-2:] == [
        ["topic", "READY", "ACTIVE"],
        ["topic", "2", "0"],
    ]
    assert any(line.startswith("  me ") for line in found)


@pytest.mark.parametrize("width", [80, 160])
def test_a_demonstration_has_bars(width: int) -> None:
    """They end full, and the table has a frame."""
    written = shown(width, None, "demo", "--tasks", "40")
    found = lines(written)
    assert max(map(len, found)) <= width
    assert any(re.fullmatch(r" *orders ━+ +40/40 *", line) for line in found)
    assert any(re.search(r"SUCCEEDED +FILTERED +FAILED +retries +median +95 %", line) for line in found)
    assert "40 of 40 decided" not in written


def test_a_question_is_asked_at_the_terminal(topiq: Topiq, topic: str) -> None:
    """A purge draws a bar that goes when it is done."""
    topiq("push", topic, "a", "--suspended")
    written = shown(80, topiq.url, "purge", topic, "--before", "now", "--state", "SUSPENDED", "--yes")
    assert "deleting" in written
    assert lines(written)[-1] == "1 task of topic is deleted"
