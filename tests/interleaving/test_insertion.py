"""Pushes that look at older tasks, in every order of their statements."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import pytest

from task_api import Insertion, Revivification, TaskDecision, TaskState
from tests.interleaving.scenario import End, Scenario
from tests.interleaving.scripts import Tasks, complete, poll, push, recreate, scene, together

if TYPE_CHECKING:
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
LOOKING = [each for each in Insertion if each is not Insertion.APPEND]
REPLACING = [Insertion.SUPERSEDE, Insertion.REPLACE, Insertion.DELETE]


def newest_is_ready(end: End) -> None:
    """Insist that one task of the identifier is READY at most, and none comes after it."""
    states = end.states("x")
    assert states.count(TaskState.READY) <= 1
    assert TaskState.READY not in states[:-1]


@pytest.mark.parametrize(
    "modes", list(combinations_with_replacement(LOOKING, 2)), ids=lambda modes: "-".join(mode.name for mode in modes)
)
def test_two_pushes_end_like_one_after_the_other(explore: Explore, modes: tuple[Insertion, Insertion]) -> None:
    """Every pair of modes, of identifiers that each names in its own order (P5)."""
    one, two = modes
    actors = {"one": push("x", "y", "z", insertion=one), "two": push("z", "y", "x", insertion=two)}
    explore(Scenario(actors, newest_is_ready, scene({}, "x", held="y", holder="other"), serial=True))


@pytest.mark.parametrize("mode", REPLACING, ids=lambda mode: mode.name)
def test_a_push_and_a_poll(explore: Explore, mode: Insertion) -> None:
    """A task is claimed or gives way, never both (P2, P5)."""

    def judge(end: End) -> None:
        newest_is_ready(end)
        claimed = end.values()["two"]
        assert [row.sequence for row in end.rows if row.state is TaskState.ACTIVE] == claimed

    actors = {"one": push("x", insertion=mode), "two": poll()}
    explore(Scenario(actors, judge, scene({}, "x"), serial=True))


@pytest.mark.parametrize("mode", LOOKING, ids=lambda mode: mode.name)
def test_a_push_and_a_decision(explore: Explore, mode: Insertion) -> None:
    """What was claimed before stands, decided before the push or after it (P2, P5)."""
    tasks: Tasks = {}
    actors = {"one": complete(tasks, "x", TaskDecision.FAILURE), "two": push("x", insertion=mode)}
    explore(Scenario(actors, newest_is_ready, scene(tasks, held="x"), serial=True))


@pytest.mark.parametrize("mode", REPLACING, ids=lambda mode: mode.name)
@pytest.mark.parametrize("revivification", Revivification, ids=lambda each: each.name)
def test_a_push_and_a_revival(explore: Explore, mode: Insertion, revivification: Revivification) -> None:
    """One task of the identifier is READY at most; a revival that appends stands beside, as a push does (P5)."""
    tasks: Tasks = {}
    appends = revivification is Revivification.APPEND

    def judge(end: End) -> None:
        if revivification in (Revivification.REPLACE, Revivification.SUPERSEDE):
            newest_is_ready(end)
        assert TaskState.READY in end.states("x")

    actors = {"one": push("x", insertion=mode), "two": recreate(tasks, "x", revivification)}
    scenario = Scenario(actors, judge, scene(tasks, "x", suspended=True), serial=not appends)
    explore(scenario)


def test_pushes_of_several_identifiers_in_one_transaction(explore: Explore) -> None:
    """Who takes identifiers one by one, in another order than others, may meet a deadlock; nothing else (P5, P7)."""
    replace = Insertion.REPLACE
    one = together(push("x", insertion=replace), push("y", insertion=replace))
    two = together(push("y", insertion=replace), push("x", insertion=replace))
    actors = {"one": one, "two": two}
    findings = explore(Scenario(actors, newest_is_ready, scene({}, "xy"), serial=True, deadlocks=True, large=True))
    assert findings.deadlocks
