"""Three actors: some of their orders, or all that are asked for by an environment variable (see conftest)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, Insertion, Junction, Revivification, TaskState
from tests.interleaving.scenario import End, Scenario
from tests.interleaving.scripts import Hands, Tasks, complete, poll, push, push_after, recreate, scene, work
from tests.interleaving.test_claims import expire, overdue, take_over
from tests.interleaving.test_dependencies import waiting
from tests.interleaving.test_insertion import newest_is_ready
from tests.interleaving.test_junction import join, released_once

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver"), pytest.mark.timeout(0)]


def test_holder_ejector_and_expiry(explore: Explore) -> None:
    """Whoever interferes, a task is decided once at most, by its present holder (P2)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        winners = [who for who in ("one", "two") if end.values()[who] == who]
        [row] = end.of("a")
        assert len(winners) <= 1
        assert row.output == (winners[0] if winners else None)
        assert (row.state is TaskState.SUCCEEDED) == bool(winners)

    actors = {"one": complete(tasks, "a"), "two": take_over(tasks), "three": expire}
    explore(Scenario(actors, judge, overdue(tasks)))


def test_three_work_on_one_identifier(explore: Explore) -> None:
    """One at a time (P4)."""
    script = work(condition=Condition.SINGULAR_BY_IDENTIFIER, claim=Claim.TRANSACTION, hands=Hands())

    def judge(end: End) -> None:
        assert end.states("x")[0] is TaskState.SUCCEEDED

    explore(Scenario(dict.fromkeys(("one", "two", "three"), script), judge, scene({}, "xxx"), singular=True))


def test_three_who_poll(explore: Explore) -> None:
    """One gets the task (P1, P2)."""

    def judge(end: End) -> None:
        assert sum(bool(value) for value in end.values().values()) == end.of("a")[0].token == 1

    explore(Scenario(dict.fromkeys(("one", "two", "three"), poll()), judge, scene({}, "a"), serial=True))


@pytest.mark.parametrize("third", ["poll", "revive", "delete"])
def test_replace_supersede_and_another(explore: Explore, third: str) -> None:
    """One task is READY at most, and the end is that of some order (P5)."""
    tasks: Tasks = {}
    others = {
        "poll": poll(),
        "revive": recreate(tasks, "x", Revivification.REPLACE),
        "delete": push("x", insertion=Insertion.DELETE),
    }
    actors = {
        "one": push("x", insertion=Insertion.REPLACE),
        "two": push("x", insertion=Insertion.SUPERSEDE),
        "three": others[third],
    }
    explore(Scenario(actors, newest_is_ready, scene(tasks, "x", suspended=third == "revive"), serial=True))


def test_three_parts_of_a_junction(explore: Explore) -> None:
    """The last one releases all, once (P6)."""
    names = ("one", "two", "three")
    actors = {name: join(push(name, suspended=True), Junction.SINGULAR, *names) for name in names}
    explore(Scenario(actors, released_once))


def test_two_decisions_and_one_who_begins_to_wait(explore: Explore) -> None:
    """Both who wait learn of every decision (P6, P7)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert (end.states("waiting"), end.states("new")) == ([TaskState.READY], [TaskState.READY])

    actors = {
        "one": complete(tasks, "a"),
        "two": complete(tasks, "b"),
        "three": push_after(tasks, "new", "a", "b"),
    }
    owners = {"one": "holder", "two": "holder"}
    explore(Scenario(actors, judge, waiting(tasks, "a", "b"), owners, serial=True))


def test_reset_poll_and_replace(explore: Explore) -> None:
    """A task that failed comes back, is claimed, or gives way: one of these (P1, P2, P5)."""
    tasks: Tasks = {}

    def failed(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        scene(tasks, held="x")(repository, tx)
        tx.execute("UPDATE task SET state = 3")

    actors = {
        "one": recreate(tasks, "x", Revivification.RESET),
        "two": work(claim=Claim.TRANSACTION),
        "three": push("x", insertion=Insertion.REPLACE),
    }
    explore(Scenario(actors, newest_is_ready, failed, serial=True))


def test_late_push_and_two_consumers(explore: Explore) -> None:
    """Nobody misses what commits late (P1, P3)."""

    def judge(end: End) -> None:
        assert {row.state for row in end.rows} == {TaskState.ACTIVE}

    actors = {"late": push("late"), "one": poll(), "two": poll()}
    explore(Scenario(actors, judge, scene({}, "ab"), afterwards={"one": poll(5), "two": poll(5)}))
