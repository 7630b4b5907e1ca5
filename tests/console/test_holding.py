"""``topiq release`` and ``eject``: tasks are taken from whoever holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import LostTaskError, Task, TaskState
from tests.backends.steps import complete, info, poll, push

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def held(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Three tasks that ``me`` holds."""
    push(backend, repository, topic, "a", "b", "c")
    return poll(backend, repository, topic, 3)


def test_released_tasks_are_ready_and_lost_to_their_holder(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], held: list[Task]
) -> None:
    """The attempt does not count, and the holder can decide them no more."""
    task = held[0]
    assert topiq("release", "topic", task.sequence) == f"a ({task.sequence}) is READY again\n"
    now = info(backend, repository, "topic", task)
    assert (now.state, now.attempt) == (TaskState.READY, 0)
    with pytest.raises(LostTaskError):
        complete(backend, repository, "topic", task)
    complete(backend, repository, "topic", held[1])


def test_all_tasks_of_an_owner_are_released(topiq: Topiq, backend: Backend, held: list[Task]) -> None:
    """What others hold is left."""
    other = backend.repository("other")
    push(backend, other, "topic", "d")
    poll(backend, other, "topic")
    assert topiq.json("release", "topic", "--owner", "me") == {"released": [task.sequence for task in held]}
    counts = topiq.json("count")["topic"]
    assert (counts["READY"]["count"], counts["ACTIVE"]["count"]) == (3, 1)


@pytest.mark.parametrize("fate", ["FAILED", "SUSPENDED", "FILTERED", "SUCCEEDED"])
def test_ejected_tasks_are_decided(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], held: list[Task], fate: str
) -> None:
    """The output says who took it from whom, unless there is a message."""
    first, second = held[0], held[1]
    assert topiq("eject", "topic", first.sequence, "--to", fate.lower()) == f"a ({first.sequence}) is {fate}\n"
    now = info(backend, repository, "topic", first)
    assert now.state is TaskState[fate]
    assert now.output is not None
    assert now.output.startswith("ejected from me by ")
    given = ("--to", fate, "--message", "poison")
    assert topiq.json("eject", "topic", second.sequence, *given) == {"ejected": [second.sequence], "state": fate}
    assert info(backend, repository, "topic", second).output == "poison"
    with pytest.raises(LostTaskError):
        complete(backend, repository, "topic", first)


def test_ejected_tasks_fail_unless_told_otherwise(topiq: Topiq, held: list[Task]) -> None:
    """All that an owner holds can be ejected too."""
    assert topiq.json("eject", "topic", "--owner", "me") == {
        "ejected": [task.sequence for task in held],
        "state": "FAILED",
    }


@pytest.mark.parametrize("command", ["release", "eject"])
def test_the_operator_leaves_no_trace_among_the_owners(topiq: Topiq, held: list[Task], command: str) -> None:
    """Nobody has to wonder about an owner that never beats."""
    topiq(command, "topic", held[0].sequence)
    assert [owner["owner"] for owner in topiq.json("owners")] == ["me"]


@pytest.mark.parametrize("command", ["release", "eject"])
def test_a_task_that_nobody_holds_stops_all(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], held: list[Task], command: str
) -> None:
    """The task and its state are named, and the others are left with their holder."""
    [ready] = push(backend, repository, "topic", "ready")
    assert topiq.fails(command, "topic", held[0].sequence, ready.sequence) == (
        1,
        f"ready ({ready.sequence}) is READY, nobody holds it; nothing was changed",
    )
    complete(backend, repository, "topic", held[0])
    assert [owner["owner"] for owner in topiq.json("owners")] == ["me"]


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("command", ["release", "eject"])
def test_mistakes_are_told(topiq: Topiq, command: str) -> None:
    """Neither or both ways to name tasks, unknown owners, tasks and topics."""
    assert topiq.fails(command, "topic")[0] == 2
    assert topiq.fails(command, "topic", 1, "--owner", "me")[0] == 2
    code, line = topiq.fails(command, "topic", "--owner", "nobody")
    assert (code, line) == (1, "'nobody' holds no task of topic; `topiq owners` lists who holds what")
    assert topiq.fails(command, "topic", 10**9)[0] == 5
    assert topiq.fails(command, "topik", 1) == (5, "there is no topic 'topik'; did you mean 'topic'?")
    assert topiq.fails("eject", "topic", 1, "--to", "READY")[0] == 2


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "topic", "--owner", "bad\udcff"),
        ("eject", "topic", "--owner", "me", "--message", "bad\udcff"),
        ("reassign", "topic", "--state", "FAILED", "--to", "FILTER", "--message", "bad\udcff"),
    ],
)
def test_bytes_that_are_no_text_are_refused(topiq: Topiq, arguments: tuple[str, ...]) -> None:
    """In one line, and nothing is changed."""
    code, line = topiq.fails(*arguments)
    assert code == 2
    assert "it must be valid Unicode" in line
    assert topiq.json("count")["topic"]["ACTIVE"]["count"] == 3
