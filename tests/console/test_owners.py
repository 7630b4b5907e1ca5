"""``topiq owners`` and ``expire``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.steps import poll, push
from tests.console.calls import invoke

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def dead(backend: Backend, repository: TaskRepository[Any], topic: str) -> TaskRepository[Any]:
    """An owner that has been silent for ten minutes and holds two tasks; ``me`` is alive."""
    push(backend, repository, topic, "a", "b")
    dead = backend.repository("dead")
    poll(backend, dead, topic, 2)
    backend.age_owner("dead", 600)
    return dead


@pytest.mark.usefixtures("dead")
def test_owners_are_listed_with_their_heartbeats(topiq: Topiq) -> None:
    """Who is alive, how long each is silent, and what it holds."""
    header, first, second = topiq.lines("owners")
    assert header == ["owner", "alive", "silent", "for", "registered", "holds"]
    assert first[:3] == ["dead", "NO", "10"]
    assert first[-1] == "2"
    assert second[:2] == ["me", "yes"]
    [dead, me] = topiq.json("owners")
    assert (dead["owner"], dead["alive"], dead["active"]) == ("dead", False, 2)
    assert 600 <= dead["silent"] < 630
    assert 0 <= dead["longest"] < 30
    assert (me["owner"], me["alive"], me["active"], me["longest"]) == ("me", True, 0, None)
    assert me["registered"].endswith("+00:00")
    assert topiq.json("owners", "--timeout", "20m")[0]["alive"] is True


@pytest.mark.usefixtures("dead")
def test_an_owner_that_is_not_registered_is_listed_when_it_holds_tasks(topiq: Topiq, backend: Backend) -> None:
    """Nobody expires what it holds as long as nobody looks."""
    backend.sql("DELETE FROM task_owner WHERE owner = 'dead'")
    [dead, _] = topiq.json("owners")
    assert (dead["owner"], dead["alive"], dead["silent"], dead["active"]) == ("dead", False, None, 2)
    assert "not registered" in topiq("owners")


def test_no_owners_are_told(topiq: Topiq) -> None:
    """No worker has registered yet."""
    assert topiq("owners") == "There are no owners: no worker has registered yet.\n"
    assert topiq.json("owners") == []


@pytest.mark.usefixtures("dead")
def test_silent_owners_are_forgotten_when_no_task_names_them(topiq: Topiq, backend: Backend) -> None:
    """One that holds tasks is kept, however silent it is."""
    backend.repository("idle")
    backend.age_owner("idle", 600)
    assert invoke("owners", "--forget", "5m", url=topiq.url).stderr == "1 owner is forgotten\n"
    assert [owner["owner"] for owner in topiq.json("owners", "--forget", "5m")] == ["dead", "me"]


@pytest.mark.usefixtures("dead")
def test_expire_takes_tasks_from_the_dead_alone(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """An owner that is alive keeps its tasks; the timeout decides who is dead."""
    push(backend, repository, topic, "c")
    poll(backend, repository, topic)
    assert topiq.json("expire", "--timeout", "20m") == {"expired": 0}
    assert topiq("expire") == "2 tasks are EXPIRED\n"
    counts = topiq.json("count")[topic]
    assert (counts["EXPIRED"]["count"], counts["ACTIVE"]["count"]) == (2, 1)


@pytest.mark.parametrize("command", ["owners", "expire"])
def test_a_wrong_duration_is_told(topiq: Topiq, command: str) -> None:
    """With an example of how it is written."""
    code, line = topiq.fails(command, "--timeout", "soon")
    assert code == 2
    assert "'soon' is no duration; write for example 90s" in line
