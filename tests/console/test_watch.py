"""``topiq watch``: what is seen at one look, on a terminal, in a log and by a script."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from task_api import TaskState
from task_console.commands.watch import _view
from task_console.sample import OPEN, OwnerSample, Sample, TopicSample
from task_sql import schema
from tests.backends.steps import complete, poll, push
from tests.console.calls import COMMAND, environment

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def busy(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """One task READY, one ACTIVE with a dead owner, two decided, all pushed a moment ago."""
    push(backend, repository, topic, *"abcd")
    complete(backend, repository, topic, poll(backend, repository, topic, 2))
    poll(backend, backend.repository("dead"), topic)
    backend.age_owner("dead", 600)


@pytest.mark.usefixtures("busy")
def test_a_script_gets_an_object_on_a_line(topiq: Topiq) -> None:
    """Depths, rates over the window, the oldest READY task, and owners."""
    topiq("pause", "topic")
    output = topiq("watch", "--samples", 1, "--window", "10m", "--json")
    look = json.loads(output)
    assert output.count("\n") == 1
    [topic] = look["topics"]
    assert topic["topic"] == "topic"
    assert topic["activation"] is False
    assert topic["counts"] == {"READY": 1, "ACTIVE": 1, "SUSPENDED": 0, "EXPIRED": 0, "FAILED": 0}
    assert (topic["pushed"], topic["decided"]) == (round(4 / 600, 3), round(2 / 600, 3))
    assert 0 <= topic["oldest"] < 60
    [dead, me] = look["owners"]
    assert (dead["owner"], dead["alive"], dead["active"]) == ("dead", False, 1)
    assert (me["owner"], me["alive"], me["active"]) == ("me", True, 0)
    assert datetime.fromisoformat(look["moment"]).utcoffset() == timedelta()


@pytest.mark.usefixtures("busy")
def test_a_log_gets_a_line_for_each_topic_and_owner(topiq: Topiq) -> None:
    """Without a terminal there are plain lines at each look."""
    lines = topiq.lines("watch", "--samples", 2, "--interval", "1ms")
    assert len(lines) == 6
    assert lines[0][1:7] == ["topic=topic", "ready=1", "active=1", "suspended=0", "expired=0", "failed=0"]
    assert lines[0][-1].startswith("oldest=")
    assert lines[1][1] == "owner=dead"
    assert lines[1][3:] == ["active=1", "dead"]
    assert lines[2][1] == "owner=me"


@pytest.mark.usefixtures("busy")
def test_topics_can_be_chosen(topiq: Topiq, backend: Backend, repository: TaskRepository[Any]) -> None:
    """Owners hold nothing in topics that are not looked at."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    look = topiq.json("watch", "other", "--samples", 1)
    assert [topic["topic"] for topic in look["topics"]] == ["other"]
    assert [owner["active"] for owner in look["owners"]] == [0, 0]


@pytest.mark.usefixtures("busy")
def test_an_interrupt_ends_it_well(topiq: Topiq) -> None:
    """Ctrl-C gives no trace and exit code 0."""
    command = [*COMMAND, "watch", "--interval", "100ms"]
    with subprocess.Popen(  # noqa: S603 - ours
        command, env=environment(topiq.url), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "topic=topic" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, problems = process.communicate(timeout=30)
    assert (process.returncode, problems.strip()) == (0, "")


@pytest.mark.usefixtures("busy")
def test_a_database_that_fails_meanwhile_is_waited_for(topiq: Topiq, backend: Backend) -> None:
    """The failure is told, and the next look succeeds again."""
    command = [*COMMAND, "watch", "--interval", "50ms", "--json"]
    with subprocess.Popen(  # noqa: S603 - ours
        command, env=environment(topiq.url), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        backend.sql("UPDATE task_schema SET version = 99")
        assert "newer than" in process.stderr.readline()
        backend.sql("UPDATE task_schema SET version = :version", version=schema.VERSION)
        moment = datetime.now(UTC)
        deadline = time.monotonic() + 30
        while datetime.fromisoformat(json.loads(process.stdout.readline())["moment"]) < moment:
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_wrong_arguments_are_told(topiq: Topiq) -> None:
    """A window must have a length, an interval be one."""
    assert topiq.fails("watch", "--window", "0s") == (2, "the window must be longer than nothing")
    assert topiq.fails("watch", "--interval", "often")[0] == 2
    for option in ("--window", "--interval", "--timeout"):
        code, line = topiq.fails("watch", "--samples", 2, option, "99999999d")
        assert (code, line.endswith("'99999999d' is too long a time; a hundred years are the most")) == (2, True)


def sample(topics: int, owners: int) -> Sample:
    """A look at so many topics and owners, with long names."""
    counts = dict.fromkeys(OPEN, 1_234_567)
    hour = timedelta(hours=30)
    return Sample(
        datetime(2026, 11, 16, tzinfo=UTC),
        [
            TopicSample(
                f"topic-{number}-" + "x" * 80,
                activation=False,
                counts=counts | {TaskState.READY: number},
                pushed=12345.6,
                decided=0.1,
                oldest=hour,
            )
            for number in range(topics)
        ],
        [
            OwnerSample(f"owner-{number}-" + "y" * 80, bool(number), hour, None, number, hour)
            for number in range(owners)
        ],
    )


def drawn(look: Sample, width: int, height: int) -> list[str]:
    """The lines of the live view on a terminal of this size."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=width, height=height)
    console.print(_view(look, "postgresql://somebody@somewhere/" + "z" * 200, console))
    return file.getvalue().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50), (80, 12)])
@pytest.mark.parametrize(("topics", "owners"), [(1, 0), (3, 2), (200, 1), (2, 200), (200, 200)])
def test_the_live_view_fits_the_terminal(width: int, height: int, topics: int, owners: int) -> None:
    """Whatever there is, no line is broken, the numbers are whole, and it is not taller than the terminal."""
    lines = drawn(sample(topics, owners), width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    header = next(line for line in lines if "READY" in line)
    assert ("EXPIRED" in header) is (width > 100)
    row = next(line for line in lines if "topic-" in line)
    assert row.startswith("  PAUSED topic-")
    assert "  ".join(["1,234,567" if width > 100 else "1.2M"] * 4) in row
    assert " 12,346 " in row
    assert row.rstrip().endswith("1 d 06 h" if width > 100 else "1d06h")
    assert lines[0].startswith("topiq watch  2026-11-16 00:00:00 UTC  postgresql://somebody@somewhere/zzz")


def test_the_live_view_shows_the_deepest_topics_first_when_not_all_fit() -> None:
    """And says how many it does not show."""
    lines = drawn(sample(200, 2), 100, 24)
    rows = [line for line in lines if "topic-" in line]
    assert "topic-199-" in rows[0]
    assert lines[-1].startswith(f"and {200 - len(rows)} more topics")


def test_the_live_view_says_who_is_dead() -> None:
    """A dead owner that holds nothing is only counted; nobody at all is told."""
    lines = drawn(sample(1, 3), 80, 24)
    assert "and 1 more silent one that holds nothing" in lines[-1]
    assert any("no owner is alive or holds a task" in line for line in drawn(sample(1, 0), 80, 24))
