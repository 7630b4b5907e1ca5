"""``topiq revive`` and ``reassign``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskDecision, TaskResult, TaskState
from task_console.commands import reviving
from tests.backends.steps import complete, info, poll, push, states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def failed(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Five tasks that failed."""
    push(backend, repository, topic, *"abcde")
    tasks = poll(backend, repository, topic, 5)
    complete(backend, repository, topic, tasks, TaskDecision.failure("it broke"))
    return tasks


def test_named_tasks_are_reset(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], failed: list[Task]
) -> None:
    """They are READY again under their own sequences."""
    first, second = failed[0].sequence, failed[1].sequence
    assert topiq("revive", "topic", first) == f"{first} is READY again\n"
    assert topiq.json("revive", "topic", second) == {"revived": 1, "tasks": {str(second): second}}
    assert list(states(backend, repository, "topic").values())[:3] == [
        TaskState.READY,
        TaskState.READY,
        TaskState.FAILED,
    ]


def test_named_tasks_are_copied(topiq: Topiq, failed: list[Task]) -> None:
    """Each is told with the one that stands for it now."""
    first = failed[0].sequence
    new = topiq.json("revive", "topic", first, "--how", "append")["tasks"][str(first)]
    assert new > failed[-1].sequence
    assert topiq.json("show", "topic", new)["origin"] == first
    assert topiq("revive", "topic", failed[1].sequence, "--how", "REPLACE").startswith(f"{failed[1].sequence} is now ")


def test_a_task_that_can_not_be_revived_stops_all(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], failed: list[Task]
) -> None:
    """The task is named, and the others are left."""
    [ready] = push(backend, repository, "topic", "ready")
    code, line = topiq.fails("revive", "topic", failed[0].sequence, ready.sequence)
    assert code == 1
    assert f"'ready' ({ready.sequence})" in line
    assert topiq.fails("revive", "topic", 10**9)[0] == 5
    assert topiq.json("count")["topic"]["FAILED"]["count"] == 5


def test_a_whole_state_is_revived_in_chunks(
    topiq: Topiq, backend: Backend, failed: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds and a number limit it."""
    monkeypatch.setattr(reviving, "_CHUNK", 2)
    repository = backend.repository("other")
    bounded = ("--first", failed[1].sequence, "--last", failed[3].sequence)
    assert topiq.json("revive", "topic", "--state", "failed", *bounded, "--size", 1) == {"revived": 1}
    assert states(backend, repository, "topic")[failed[1].sequence] is TaskState.READY
    assert topiq("revive", "topic", "--state", "FAILED", *bounded) == "2 FAILED tasks of topic are revived\n"
    assert states(backend, repository, "topic")[failed[4].sequence] is TaskState.FAILED
    assert topiq.json("revive", "topic", "--state", "FAILED", "--how", "SUPERSEDE") == {"revived": 2}
    assert topiq.json("revive", "topic", "--state", "FAILED") == {"revived": 0}
    assert topiq.json("count")["topic"]["RECREATED"]["count"] == 2


@pytest.mark.parametrize("how", ["RESET", "APPEND"])
def test_a_task_that_fails_again_meanwhile_is_not_revived_twice(
    topiq: Topiq, backend: Backend, failed: list[Task], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Each that was FAILED at the start gets one chance; one that no longer is gets none, nor does a copy for it."""
    repository = backend.repository("worker")

    @contextmanager
    def worked(_output: object, _what: str, _total: int) -> Iterator[Callable[[int], None]]:
        """Fail whatever is revived at once; the last one is settled by somebody else before its turn."""
        with backend.begin() as tx:
            repository.reassign(tx, "topic", {failed[4]: TaskResult.SUCCESS})
        yield lambda _: complete(
            backend, repository, "topic", poll(backend, repository, "topic", 5), TaskDecision.FAILURE
        )

    monkeypatch.setattr(reviving, "_CHUNK", 1)
    monkeypatch.setattr(reviving, "progress", worked)
    assert topiq.json("revive", "topic", "--state", "FAILED", "--how", how) == {"revived": 4}
    tasks = {task["sequence"]: task for task in topiq.json("list", "topic")}
    attempts = [task["attempt"] for task in tasks.values() if task["state"] == "FAILED"]
    assert attempts == [2 if how == "RESET" else 1] * 4


def test_reassign_gives_another_result(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], failed: list[Task]
) -> None:
    """Named tasks or a whole state; a reason is kept with the output."""
    one = failed[0].sequence
    said = topiq("reassign", "topic", one, "--to", "success", "--message", "done by hand")
    assert said == "1 task of topic is now SUCCEEDED\n"
    output = info(backend, repository, "topic", failed[0]).output
    assert output is not None
    assert output.startswith("it broke")
    assert output.endswith("done by hand")
    bounded = ("--last", failed[2].sequence)
    assert topiq.json("reassign", "topic", "--state", "FAILED", "--to", "FILTER", *bounded) == {"reassigned": 2}
    assert topiq.json("reassign", "topic", "--state", "FAILED", "--to", "suspension") == {"reassigned": 2}


@pytest.mark.usefixtures("failed")
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("revive", "topic"), "name tasks by their sequences"),
        (("revive", "topic", "1", "--state", "FAILED"), "name tasks by their sequences"),
        (("revive", "topic", "1", "--last", "3"), "go with --state"),
        (("revive", "topic", "1", "--size", "3"), "go with --state"),
        (("revive", "topic", "--state", "READY"), "'READY' is none of EXPIRED, FAILED"),
        (("revive", "topic", "--state", "FAILED", "--how", "magic"), "'magic' is none of APPEND"),
        (("reassign", "topic", "1"), "--to"),
        (("reassign", "topic", "--to", "SUCCESS"), "name tasks by their sequences"),
        (("reassign", "topic", "1", "--to", "READY"), "'READY' is none of FAILURE"),
    ],
)
def test_wrong_arguments_are_told(topiq: Topiq, arguments: tuple[str, ...], reason: str) -> None:
    """Each mistake is answered by a sentence and exit code 2."""
    code, line = topiq.fails(*arguments)
    assert code == 2
    assert reason in line
    assert topiq.json("count")["topic"]["FAILED"]["count"] == 5


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("command", [("revive",), ("reassign", "--to", "SUCCESS")])
@pytest.mark.parametrize("chosen", [("1",), ("--state", "FAILED")])
def test_a_wrong_topic_gets_a_suggestion(topiq: Topiq, command: tuple[str, ...], chosen: tuple[str, ...]) -> None:
    """No command takes an unknown topic for an empty one."""
    assert topiq.fails(*command, "topik", *chosen) == (5, "there is no topic 'topik'; did you mean 'topic'?")
