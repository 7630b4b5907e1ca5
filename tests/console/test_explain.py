"""``topiq explain``: each reason for which nothing runs is found, and what to do about it is said."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import TaskDecision
from tests.backends.steps import complete, poll, push

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


def found(topiq: Topiq) -> dict[str, dict[str, Any]]:
    """What is found about the topic, by kind."""
    return {finding["kind"]: finding for finding in topiq.json("explain", "topic")["findings"]}


def causes(topiq: Topiq) -> list[str]:
    """The kinds of what keeps tasks from running."""
    return [kind for kind, finding in found(topiq).items() if finding["blocking"]]


def test_a_paused_topic(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """It comes first, with the command that ends it."""
    push(backend, repository, topic, "a")
    topiq("pause", topic)
    assert causes(topiq) == ["paused"]
    assert found(topiq)["paused"]["advice"] == "topiq resume topic"
    first, second, third, *_ = topiq("explain", topic).splitlines()
    assert first == "topic: 1 READY; 0 decided in the last 10 s"
    assert second == "! The topic is paused: workers that heed it leave it alone."
    assert third == "    topiq resume topic"


@pytest.mark.usefixtures("topic")
def test_an_empty_topic(topiq: Topiq) -> None:
    """There is nothing to run."""
    assert causes(topiq) == ["nothing-ready"]
    assert topiq("explain", "topic") == "topic: nothing open; 0 decided in the last 10 s\n! Nothing is READY.\n"


def test_nobody_is_alive(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """The last one who was is named; with a longer timeout he is alive."""
    push(backend, repository, topic, "a")
    backend.age_owner("me", 300)
    assert causes(topiq) == ["no-owner-alive"]
    assert "the last heartbeat, of me, was 5 min" in found(topiq)["no-owner-alive"]["message"]
    assert "no-owner-alive" not in topiq("explain", topic, "--timeout", "10m", "--json")
    backend.sql("DELETE FROM task_owner")
    assert "nobody has registered yet" in found(topiq)["no-owner-alive"]["message"]


def test_tasks_that_are_not_due(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """It says when the first one will be; beside READY tasks that is only to be known."""
    push(backend, repository, topic, "a", due=timedelta(hours=1))
    push(backend, repository, topic, "b", due=timedelta(hours=2))
    assert causes(topiq) == ["nothing-ready", "waiting-for-due"]
    assert "2 tasks are SUSPENDED and not due yet, the first at" in found(topiq)["waiting-for-due"]["message"]
    assert "in 59 min" in found(topiq)["waiting-for-due"]["message"]
    push(backend, repository, topic, "c")
    assert causes(topiq) == []


def test_tasks_that_nobody_promoted(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """A due time that has passed without a worker is a reason of its own."""
    push(backend, repository, topic, "a", due=timedelta(hours=-1))
    push(backend, repository, topic, "b", due=timedelta(hours=1))
    assert causes(topiq) == ["nothing-ready", "overdue", "waiting-for-due"]
    assert found(topiq)["overdue"]["message"].startswith("1 task is SUSPENDED and due since")
    assert " nobody has made it READY: " in found(topiq)["overdue"]["message"]


def test_tasks_that_wait_for_a_junction(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """They have no due time."""
    push(backend, repository, topic, "a", suspended=True)
    assert causes(topiq) == ["nothing-ready", "suspended"]
    assert found(topiq)["suspended"]["advice"] == "topiq revive topic --state SUSPENDED"
    said = "SUSPENDED without a due time, until a junction, the end of other tasks or you release"
    assert found(topiq)["suspended"]["message"] == f"1 task is {said} it."
    push(backend, repository, topic, "b", suspended=True)
    assert found(topiq)["suspended"]["message"] == f"2 tasks are {said} them."


def test_siblings_that_are_active(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """The sibling is named; when others are free it is only to be known."""
    [first, second] = push(backend, repository, topic, "a", "a")
    poll(backend, repository, topic)
    assert causes(topiq) == ["blocked-by-active"]
    finding = found(topiq)["blocked-by-active"]
    assert "The one READY task shares its identifier with an ACTIVE task" in finding["message"]
    assert f"as {second.sequence} (a) does with {first.sequence}" in finding["message"]
    assert finding["advice"] == f"topiq show topic {first.sequence}"
    push(backend, repository, topic, "b")
    assert causes(topiq) == []
    assert "1 of the 2 READY tasks" in found(topiq)["blocked-by-active"]["message"]


@pytest.mark.parametrize(
    ("decision", "kind", "condition"),
    [
        (TaskDecision.FAILURE, "blocked-by-failure", "SUSPEND_ON_FAILURE or SUSPEND_UNTIL_SUCCESS"),
        (TaskDecision.SUSPENSION, "blocked-by-suspended", "SUSPEND_UNTIL_SUCCESS"),
    ],
)
def test_siblings_that_failed_or_wait(  # noqa: PLR0917 - fixtures
    topiq: Topiq,
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    decision: TaskDecision,
    kind: str,
    condition: str,
) -> None:
    """The conditions that mind them are named."""
    push(backend, repository, topic, "a", "a")
    [task] = poll(backend, repository, topic)
    complete(backend, repository, topic, task, decision)
    assert causes(topiq) == [kind]
    assert f"poll with {condition} leave them" in found(topiq)[kind]["message"]


def test_tasks_of_a_dead_owner(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """The command that gives them back is named, and works."""
    push(backend, repository, topic, "a")
    poll(backend, backend.repository("dead"), topic)
    backend.age_owner("dead", 600)
    assert causes(topiq) == ["nothing-ready", "held-by-dead-owner"]
    finding = found(topiq)["held-by-dead-owner"]
    assert finding["message"].startswith("dead holds 1 task, the longest for ")
    assert "and is dead: silent for 10 min " in finding["message"]
    assert finding["advice"] == "topiq release topic --owner 'dead'"
    topiq("release", topic, "--owner", "dead")
    assert causes(topiq) == []


def test_what_keeps_tasks_from_running_comes_first(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Before whatever is only to be known."""
    push(backend, repository, topic, "a", "a", "b")
    poll(backend, backend.repository("dead"), topic)
    backend.age_owner("dead", 600)
    assert list(found(topiq)) == ["held-by-dead-owner", "blocked-by-active"]


def test_other_topics_do_not_count(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Neither their tasks, nor who holds them, nor what was decided there."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    push(backend, repository, "other", "a", "b", "c", "d", due=timedelta(hours=-1))
    with backend.begin() as tx:
        repository.promote(tx, "other")
    complete(backend, repository, "other", poll(backend, repository, "other"))
    poll(backend, repository, "other", lease=timedelta(microseconds=1))
    push(backend, repository, "other", "e", due=timedelta(hours=1))
    told = topiq.json("explain", topic)
    assert set(told["counts"].values()) == {0}
    assert told["decided"] == 0
    assert [finding["kind"] for finding in told["findings"]] == ["nothing-ready"]


def test_tasks_of_a_living_owner(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """That is only to be known."""
    push(backend, repository, topic, "a", "b")
    poll(backend, repository, topic)
    assert causes(topiq) == []
    assert found(topiq)["held"]["message"].startswith("me holds 1 task, the longest for ")


def test_a_lease_that_ended(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """Nobody has expired the task."""
    push(backend, repository, topic, "a", "b")
    poll(backend, repository, topic, lease=timedelta(microseconds=1))
    assert causes(topiq) == ["lease-ended"]
    assert found(topiq)["lease-ended"]["message"].endswith(" nobody has expired it.")
    assert topiq.json("expire") == {"expired": 1}
    assert found(topiq)["expired"]["message"] == "1 task is EXPIRED and has to be revived."
    assert found(topiq)["expired"]["advice"] == "topiq revive topic --state EXPIRED"


def test_tasks_that_failed(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """They are told, with the command that lists them."""
    push(backend, repository, topic, "a")
    complete(backend, repository, topic, poll(backend, repository, topic), TaskDecision.FAILURE)
    assert found(topiq)["failed"]["message"] == "1 task is FAILED."
    assert causes(topiq) == ["nothing-ready"]


def test_a_topic_that_runs(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """What was decided a moment ago proves it."""
    push(backend, repository, topic, "a", "b")
    complete(backend, repository, topic, poll(backend, repository, topic))
    assert list(found(topiq)) == ["running"]


def test_a_topic_that_nothing_explains(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """READY tasks and a living owner: the owner is named."""
    push(backend, repository, topic, "a")
    assert list(found(topiq)) == ["unexplained", "not-activated"]
    assert "these owners are alive: me." in found(topiq)["unexplained"]["message"]
    topiq("resume", topic)
    assert list(found(topiq)) == ["unexplained"]


def test_counts_are_part_of_it(topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """A script sees the depths without another call."""
    push(backend, repository, topic, "a")
    told = topiq.json("explain", topic)
    assert told["topic"] == topic
    assert told["counts"] == {"READY": 1, "ACTIVE": 0, "SUSPENDED": 0, "EXPIRED": 0, "FAILED": 0}
    assert told["decided"] == 0
