"""SINGULAR polls in every order of their statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from task_api import Claim, Condition, Order, TaskState
from tests.interleaving.scenario import End, Scenario
from tests.interleaving.scripts import Hands, in_turn, poll, push, scene, work

if TYPE_CHECKING:
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
SINGULAR = Condition.SINGULAR_BY_IDENTIFIER


def in_order(end: End) -> None:
    """Insist that a task was done only when those before it were."""
    states = end.states("x")
    done = states.count(TaskState.SUCCEEDED)
    assert states == [TaskState.SUCCEEDED] * done + [TaskState.READY] * (len(states) - done)


@pytest.mark.parametrize("claim", Claim, ids=lambda each: each.name)
def test_one_task_of_an_identifier_at_a_time(explore: Explore, claim: Claim) -> None:
    """Two work on one identifier's tasks, each as long as the other does not; nobody waits (P4)."""
    hands = Hands()

    def judge(end: End) -> None:
        in_order(end)
        assert end.states("x")[0] is TaskState.SUCCEEDED

    script = work(condition=SINGULAR, claim=claim, hands=hands)
    explore(Scenario({"one": script, "two": script}, judge, scene({}, "xx"), singular=True))


def test_a_blocked_identifier_starves_no_other(explore: Explore) -> None:
    """Two who poll get the one task that may be claimed of each identifier (P4)."""

    def judge(end: End) -> None:
        assert end.states("x").count(TaskState.ACTIVE) <= 1
        assert TaskState.ACTIVE in (end.states("x")[0], end.states("y")[0])

    script = poll(1, SINGULAR)
    explore(Scenario({"one": script, "two": script}, judge, scene({}, "xxy"), singular=True))


def test_a_sibling_comes_while_another_is_claimed(explore: Explore) -> None:
    """A newer task is not claimed while the claim on an older one is not committed (P4)."""
    last = poll(1, SINGULAR, Order.LAST_IN_FIRST_OUT)

    def judge(end: End) -> None:
        assert end.states("x").count(TaskState.ACTIVE) == 1

    explore(Scenario({"one": last, "two": in_turn(push("x"), last)}, judge, scene({}, "x"), singular=True))


def test_what_commits_late_is_claimed_alone(explore: Explore) -> None:
    """A task with a lower number commits when another one of its identifier is polled, is held, or was not (P4)."""

    def judge(end: End) -> None:
        assert end.states("x").count(TaskState.ACTIVE) == 1

    consumer = in_turn(push("x"), poll(1, SINGULAR), poll(1, SINGULAR))
    scenario = Scenario({"late": push("x"), "consumer": consumer}, judge, singular=True)
    explore(scenario)
