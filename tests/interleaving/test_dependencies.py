"""Tasks that wait for others, in every order of the statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Dependency, Insertion, Revivification, TaskCreation, TaskDecision, TaskRef, TaskResult, TaskState
from task_sql import PostgresTaskRepository
from tests.interleaving.scenario import TOPIC, End, Scenario
from tests.interleaving.scripts import Tasks, complete, push, push_after, recreate, scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.interleaving.conftest import Explore
    from tests.interleaving.stage import Script

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
READY, FAILED, SUSPENDED = TaskState.READY, TaskState.FAILED, TaskState.SUSPENDED
HELD = {"one": "holder", "two": "holder"}


def waiting(tasks: Tasks, *afters: str, held: str = "ab") -> Callable[[TaskRepository[Any], Any], None]:
    """Tasks that are held, and one that waits for some of them."""

    def before(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        scene(tasks, held=held, holder="holder")(repository, tx)
        after = tuple(tasks[name] for name in afters)
        tasks["waiting"] = repository.push(tx, TOPIC, TaskCreation("waiting", after=after))

    return before


@pytest.mark.parametrize("second", [TaskDecision.SUCCESS, TaskDecision.FAILURE], ids=["SUCCESS", "FAILURE"])
def test_the_last_of_two_releases_who_waits(explore: Explore, second: TaskDecision) -> None:
    """Two are decided at once, and the one that waits for both learns it, once (P6)."""
    tasks: Tasks = {}
    good = second is TaskDecision.SUCCESS

    def judge(end: End) -> None:
        assert end.states("waiting") == [READY if good else FAILED]
        assert end.of("waiting")[0].waits is None or not good

    actors = {"one": complete(tasks, "a"), "two": complete(tasks, "b", second)}
    explore(Scenario(actors, judge, waiting(tasks, "a", "b"), HELD, serial=good, large=not good))


@pytest.mark.parametrize("decision", [TaskDecision.SUCCESS, TaskDecision.FAILURE], ids=["SUCCESS", "FAILURE"])
def test_who_begins_to_wait_for_what_is_decided(explore: Explore, decision: TaskDecision) -> None:
    """A push that waits, against the decision on what it waits for: no signal is missed (P6)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert end.states("waiting") == [READY if decision is TaskDecision.SUCCESS else FAILED]

    actors = {"one": complete(tasks, "a", decision), "two": push_after(tasks, "waiting", "a")}
    explore(Scenario(actors, judge, scene(tasks, held="a", holder="holder"), {"one": "holder"}, serial=True))


def test_who_begins_to_wait_for_two(explore: Explore) -> None:
    """Two are decided in one call, while a push begins to wait for both (P6, P7)."""
    tasks: Tasks = {}

    def both(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        repository.complete_many(tx, TOPIC, {tasks[name]: TaskDecision.SUCCESS for name in "ba"})
        return True

    def judge(end: End) -> None:
        assert end.states("waiting") == [READY]

    actors = {"one": both, "two": push_after(tasks, "waiting", "b", "a")}
    explore(Scenario(actors, judge, scene(tasks, held="ab", holder="holder"), {"one": "holder"}, serial=True))


def depend(tasks: Tasks, run: str, after: str) -> Script:
    """Let one task wait for another."""

    def script(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        named = (TaskRef(TOPIC, tasks[name].sequence) for name in (run, after))
        repository.depend(tx, [Dependency(*named)])
        return True

    return script


def test_two_halves_of_a_cycle(explore: Explore) -> None:
    """One of them is refused (P7)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert sorted(map(str, end.values().values())) == ["DependencyCycleError", "True"]

    actors = {"one": depend(tasks, "a", "b"), "two": depend(tasks, "b", "a")}
    explore(Scenario(actors, judge, scene(tasks, "ab"), serial=True))


def test_depending_on_what_is_decided(explore: Explore) -> None:
    """An old task is told to wait while what it waits for is decided (P6)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert end.states("b") == [READY]

    actors = {"one": complete(tasks, "a"), "two": depend(tasks, "b", "a")}
    explore(Scenario(actors, judge, scene(tasks, "b", held="a", holder="holder"), {"one": "holder"}, serial=True))


@pytest.mark.parametrize("revivification", [Revivification.APPEND, Revivification.RESET], ids=lambda each: each.name)
def test_reviving_who_waits(explore: Explore, revivification: Revivification) -> None:
    """A task is revived while what it waits for is decided; its copy misses nothing (P6)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert end.states("waiting")[-1] is READY

    actors = {"one": complete(tasks, "a"), "two": recreate(tasks, "waiting", revivification)}
    explore(Scenario(actors, judge, waiting(tasks, "a", held="a"), {"one": "holder"}))


@pytest.mark.parametrize("mode", [Insertion.REPLACE, Insertion.DELETE], ids=lambda mode: mode.name)
def test_replacing_what_is_waited_for(explore: Explore, mode: Insertion) -> None:
    """Who begins to wait for a task that gives way fails with it, or is told before (P5, P6)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert end.states("waiting") in ([FAILED], [READY])  # a task that was deleted before is not waited for

    actors = {"one": push("a", insertion=mode), "two": push_after(tasks, "waiting", "a")}
    explore(Scenario(actors, judge, scene(tasks, "a"), serial=True))


@pytest.mark.parametrize("call", ["purge", "reassign", "APPEND", "REPLACE", "RESET"])
def test_who_begins_to_wait_for_what_an_operator_has(explore: Explore, call: str) -> None:
    """A failed task is purged, given another result or revived, while a push begins to wait for it (P1, P6)."""
    tasks: Tasks = {}

    def failed(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        scene(tasks, held="a", holder="holder")(repository, tx)
        PostgresTaskRepository("holder").complete(tx, TOPIC, tasks["a"], TaskDecision.FAILURE)

    def operate(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        if call == "purge":
            return repository.purge(tx, TOPIC)
        if call == "reassign":
            repository.reassign(tx, TOPIC, {tasks["a"]: TaskResult.SUCCESS})
            return True
        return len(repository.recreate(tx, TOPIC, Revivification[call], [tasks["a"]]))

    def judge(end: End) -> None:
        row = next(iter(end.of("waiting")), None)
        assert row is None or row.state is not SUSPENDED or end.states("a")[-1] is READY

    actors = {"one": operate, "two": push_after(tasks, "waiting", "a")}
    explore(Scenario(actors, judge, failed, serial=True))


@pytest.mark.parametrize("call", ["purge_all", "reassign_all", "recreate_state"])
def test_deciding_what_others_clear(explore: Explore, call: str) -> None:
    """Who waits learns what became of the task, whoever comes first (P6)."""
    tasks: Tasks = {}

    def clear(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        if call == "purge_all":
            repository.purge_all(tx, TOPIC)
            return True
        if call == "reassign_all":
            return repository.reassign_all(tx, TOPIC, FAILED, TaskResult.SUCCESS)
        return len(repository.recreate_state(tx, TOPIC, Revivification.RESET, FAILED, size=9))

    def judge(end: End) -> None:
        states = end.states("waiting")
        assert states != [SUSPENDED] or end.states("a") == [READY]

    actors = {"one": complete(tasks, "a", TaskDecision.FAILURE), "two": clear}
    explore(Scenario(actors, judge, waiting(tasks, "a", held="a"), {"one": "holder"}, serial=True))
