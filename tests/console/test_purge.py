"""``topiq purge``: the number first, a question, then chunk by chunk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskDecision
from tests.backends.steps import complete, poll, push
from tests.console.calls import failure, invoke

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def tasks(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Four succeeded, three failed, one READY, in this order."""
    push(backend, repository, topic, *"abcdefgh")
    polled = poll(backend, repository, topic, 7)
    complete(backend, repository, topic, polled[:4])
    complete(backend, repository, topic, polled[4:], TaskDecision.FAILURE)
    return polled


def left(topiq: Topiq) -> dict[str, int]:
    """How many tasks of the topic are in each state."""
    return {state: summary["count"] for state, summary in topiq.json("count")["topic"].items()}


def test_the_number_is_shown_before_the_question(topiq: Topiq, tasks: list[Task]) -> None:
    """Without a yes nothing is deleted."""
    result = invoke("purge", "topic", "--last", tasks[5].sequence, url=topiq.url, given="n\n")
    assert failure(result) == (1, "nothing was changed; answer y, or pass --yes to do it without being asked")
    assert result.stderr.startswith(
        f"6 tasks of topic, up to sequence {tasks[5].sequence}: 2 FAILED, 4 SUCCEEDED\nDelete these 6 tasks for good?"
    )
    assert result.stdout == ""
    assert sum(left(topiq).values()) == 8


@pytest.mark.usefixtures("tasks")
def test_finished_tasks_are_deleted_after_a_yes(topiq: Topiq) -> None:
    """READY tasks are left."""
    assert topiq("purge", "topic", "--before", "now", given="y\n") == "7 tasks of topic are deleted\n"
    assert left(topiq) == {"READY": 1}


def test_bounds_and_states_choose(topiq: Topiq, tasks: list[Task]) -> None:
    """The state may be repeated, and also be one that is not finished."""
    last = ("--last", tasks[4].sequence)
    assert topiq.json("purge", "topic", *last, "--state", "FAILED", "--yes") == {"found": 1, "purged": 1}
    assert topiq.json("purge", "topic", *last, "--state", "FAILED", "--yes") == {"found": 0, "purged": 0}
    assert topiq("purge", "topic", *last, "--state", "FAILED", "-y") == "topic has no such tasks\n"
    several = ("--state", "ready", "--state", "failed")
    assert topiq.json("purge", "topic", "--before", "now", *several, "--yes") == {"found": 3, "purged": 3}
    assert left(topiq) == {"SUCCEEDED": 4}


def test_a_time_is_not_included(topiq: Topiq, backend: Backend, tasks: list[Task]) -> None:
    """A date means its beginning in UTC, and of two limits the closer one counts."""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    created = "2020-05-05 00:00:00.000" if backend.name == "sqlite" else "2020-05-05T00:00:00Z"
    earlier = "2020-05-04 23:59:59.999" if backend.name == "sqlite" else "2020-05-04T23:59:59.999Z"
    backend.sql("UPDATE task SET created = :created WHERE sequence = :one", created=created, one=tasks[1].sequence)
    backend.sql("UPDATE task SET created = :created WHERE sequence = :one", created=earlier, one=tasks[0].sequence)
    assert topiq.json("purge", "topic", "--before", "2020-05-04", "--yes")["found"] == 0
    assert topiq.json("purge", "topic", "--before", "2020-05-05T00:00:00", "--yes") == {"found": 1, "purged": 1}
    assert topiq.json("purge", "topic", "--before", "2020-05-05", "--yes")["found"] == 0
    assert topiq.json("purge", "topic", "--before", "2020-05-06", "--last", 0, "--yes")["found"] == 0
    assert topiq.json("purge", "topic", "--before", "2020-05-06", "--yes") == {"found": 1, "purged": 1}
    assert topiq.json("purge", "topic", "--before", tomorrow, "--yes")["found"] == 5


def test_big_purges_come_in_chunks_and_tell_how_far_they_are(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each chunk is a transaction of its own; a log gets a line at every quarter."""
    monkeypatch.setattr("task_console.progress._LONG", 8)
    with backend.begin() as tx:
        repository.initialize(tx, "between")
    for _ in range(8):
        push(backend, repository, topic, "a")
        push(backend, repository, "between", "b")
    complete(backend, repository, topic, poll(backend, repository, topic, 8))
    result = invoke("purge", topic, "--before", "now", "--chunk", 2, "--yes", url=topiq.url)
    assert result.stdout == "8 tasks of topic are deleted\n"
    assert result.stderr.splitlines()[1:] == [f"deleting: {number} of 8" for number in (2, 4, 6, 8)]
    assert topiq.json("count", "between")["between"]["READY"]["count"] == 8


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "say how far: --before TIME or --last SEQUENCE"),
        (("--before", "yesterday"), "'yesterday' is no time"),
        (("--before", "2020-13-01"), "'2020-13-01' is no time"),
        (("--before", "0001-01-01"), "nothing lies before 0001-01-01"),
        (("--before", "0001-01-01T00:00"), "nothing lies before 0001-01-01 00:00:00"),
        (("--last", "x"), "'x' is no sequence"),
        (("--before", "now", "--state", "ACTIVE"), "'ACTIVE' is none of READY"),
    ],
)
def test_wrong_arguments_are_told(topiq: Topiq, arguments: tuple[str, ...], reason: str) -> None:
    """Each mistake is answered by a sentence and exit code 2; nothing is deleted."""
    code, line = topiq.fails("purge", "topic", "--yes", *arguments)
    assert code == 2
    assert reason in line
    assert sum(left(topiq).values()) == 8


@pytest.mark.usefixtures("topic")
def test_a_wrong_topic_gets_a_suggestion(topiq: Topiq) -> None:
    """An unknown topic is no empty one."""
    assert topiq.fails("purge", "topik", "--before", "now") == (5, "there is no topic 'topik'; did you mean 'topic'?")
