"""Junctions in every order of their statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Junction, TaskDecision, TaskState
from tests.interleaving.scenario import TOPIC, End, Scenario
from tests.interleaving.scripts import Tasks, complete, push, scene

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.interleaving.conftest import Explore
    from tests.interleaving.stage import Script

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]


def join(bring: Script, junction: Junction, *identifiers: str) -> Script:
    """Bring a part and join; return what was released."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        bring(repository, tx)
        return repository.junction(tx, TOPIC, [identifiers], junction=junction)

    return script


def released_once(end: End) -> None:
    """Insist that one of the actors released all parts, and the others none."""
    released = [value for value in end.values().values() if value]
    assert released == [{row.identifier for row in end.rows}]
    assert {row.state for row in end.rows} == {TaskState.READY}


@pytest.mark.parametrize("junction", Junction, ids=lambda each: each.name)
def test_halves_that_are_pushed(explore: Explore, junction: Junction) -> None:
    """Each pushes its half and joins: the junction is released, once (P6)."""
    actors = {name: join(push(name, suspended=True), junction, "one", "two") for name in ("one", "two")}
    explore(Scenario(actors, released_once))


def test_halves_that_are_completed(explore: Explore) -> None:
    """Each suspends its half and joins: the junction is released, once (P6)."""
    tasks: Tasks = {}
    actors = {
        "one": join(complete(tasks, "a", TaskDecision.SUSPENSION), Junction.SINGULAR, "a", "b"),
        "two": join(complete(tasks, "b", TaskDecision.SUSPENSION), Junction.SINGULAR, "b", "a"),
    }
    owners = dict.fromkeys(actors, "holder")
    explore(Scenario(actors, released_once, scene(tasks, held="ab", holder="holder"), owners, serial=True))
