"""Claims and decisions in every order of their statements."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Claim, Condition, Revivification, Task, TaskDecision, TaskState
from tests.interleaving.scenario import TOPIC, End, Scenario
from tests.interleaving.scripts import Tasks, complete, in_turn, poll, push, recreate, scene, work

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
HOUR = timedelta(hours=1)
READY, SUCCEEDED = TaskState.READY, TaskState.SUCCEEDED


def decided_once(end: End, name: str = "a") -> None:
    """Insist that one actor decided the task, and that it is the one who believes so."""
    winners = [who for who, outcome in end.outcomes.items() if outcome.value]
    [row] = end.of(name)
    assert (len(winners), row.state) == (1, SUCCEEDED), end.values()
    assert row.output == winners[0]


@pytest.mark.parametrize("condition", [Condition.NONE, Condition.SINGULAR_BY_IDENTIFIER], ids=lambda each: each.name)
@pytest.mark.parametrize("claim", Claim, ids=lambda each: each.name)
def test_a_task_is_claimed_once(explore: Explore, condition: Condition, claim: Claim) -> None:
    """Of two who poll and decide the one task there is, one gets it (P1, P2)."""

    def judge(end: End) -> None:
        decided_once(end)
        assert (end.of("a")[0].token, end.of("a")[0].attempt) == (1, 1)

    script = work(condition=condition, claim=claim)
    explore(Scenario({"one": script, "two": script}, judge, scene({}, "a"), serial=True))


def test_each_of_two_tasks_is_claimed_once(explore: Explore) -> None:
    """Two who poll as many as there are share them (P1, P2, P3)."""

    def judge(end: End) -> None:
        claimed = [sequence for value in end.values().values() for sequence in value]  # type: ignore[attr-defined]
        assert sorted(claimed) == [row.sequence for row in end.rows]
        assert {row.token for row in end.rows} == {1}

    explore(Scenario({"one": poll(2), "two": poll(2)}, judge, scene({}, "ab"), serial=True))


def take_over(tasks: Tasks) -> Any:  # noqa: ANN401 - a script
    """Eject a task, commit, and complete it."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        task = repository.eject(tx, TOPIC, tasks["a"])
        tx.commit()
        repository.complete(tx, TOPIC, task, TaskDecision.success(repository.owner))
        return repository.owner

    return script


def test_who_was_ejected_decides_nothing(explore: Explore) -> None:
    """A holder, and one who takes the task over: whoever has it decides it (P2)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        decided_once(end)
        fates = {"one": "one", "two": "TaskStateError"}, {"one": "LostTaskError", "two": "two"}
        assert end.values() in fates

    actors = {"one": complete(tasks, "a"), "two": take_over(tasks)}
    explore(Scenario(actors, judge, scene(tasks, held="a")))


def test_two_who_eject(explore: Explore) -> None:
    """Whoever ejects last decides, unless the other was done before (P2)."""
    tasks: Tasks = {}
    actors = {"two": take_over(tasks), "three": take_over(tasks)}
    explore(Scenario(actors, decided_once, scene(tasks, held="a")))


def expire(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
    """Expire what was held too long."""
    return repository.expire(tx, HOUR)


def overdue(tasks: Tasks) -> Any:  # noqa: ANN401 - a scene
    """A task whose lease has ended."""

    def before(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        scene(tasks, held="a")(repository, tx)
        tx.execute("UPDATE task SET lease = statement_timestamp() - interval '1 minute'")

    return before


def test_expiry_and_a_late_decision(explore: Explore) -> None:
    """A holder whose lease has ended against expiry, reset, and the next holder (P1, P2)."""
    tasks: Tasks = {}

    def revive_and_work(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        expired = expire(repository, tx)
        tx.commit()
        if not expired:
            return None
        recreate(tasks, "a", Revivification.RESET)(repository, tx)
        tx.commit()
        return work()(repository, tx)

    explore(Scenario({"one": complete(tasks, "a"), "two": revive_and_work}, decided_once, overdue(tasks)))


@pytest.mark.parametrize("call", ["extend", "release", "checkpoint", "complete"])
def test_holding_against_expiry(explore: Explore, call: str) -> None:
    """A task expires or is still held; a call of its holder that succeeded stands (P2)."""
    tasks: Tasks = {}

    def hold(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        match call:
            case "extend":
                repository.extend(tx, TOPIC, [tasks["a"]], HOUR)
            case "release":
                repository.release(tx, TOPIC, [tasks["a"]])
            case "checkpoint":
                repository.checkpoint(tx, TOPIC, tasks["a"], "so far")
            case _:
                repository.complete(tx, TOPIC, tasks["a"])
        return True

    explore(
        Scenario({"one": hold, "two": expire}, lambda _: None, overdue(tasks), serial=True),
    )


def test_a_late_push_is_polled_nevertheless(explore: Explore) -> None:
    """A consumer that has moved on finds what commits behind it (P1, P3)."""

    def late(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        return repository.push(tx, TOPIC, "late").sequence

    def judge(end: End) -> None:
        assert end.states("late") != [READY]

    consumer = in_turn(push("b"), poll(), push("c"), poll(), poll())
    scenario = Scenario({"late": late, "consumer": consumer}, judge, afterwards={"consumer": poll(5)})
    explore(scenario)


def test_a_task_that_comes_back_is_polled_nevertheless(explore: Explore) -> None:
    """A consumer that has moved on finds what is released, reset or promoted behind it (P1)."""
    tasks: Tasks = {}

    def give_back(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        held: Task = tasks["a"]
        repository.release(tx, TOPIC, [held])
        return True

    def judge(end: End) -> None:
        assert end.states("a") != [READY]

    consumer = in_turn(poll(), push("d"), poll(), poll())
    scenario = Scenario(
        {"one": give_back, "consumer": consumer}, judge, scene(tasks, "b", held="a"), afterwards={"consumer": poll(5)}
    )
    explore(scenario)
