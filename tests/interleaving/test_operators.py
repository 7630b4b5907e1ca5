"""What operators do, in every order of the statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from task_api import Revivification, TaskDecision, TaskResult, TaskState
from tests.interleaving.scenario import TOPIC, End, Scenario
from tests.interleaving.scripts import Tasks, complete, poll, push, recreate, scene

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.interleaving.conftest import Explore

pytestmark = [pytest.mark.backends("postgresql"), pytest.mark.kinds("driver")]
SUSPENDED = TaskState.SUSPENDED


@pytest.mark.parametrize("other", Revivification, ids=lambda each: each.name)
def test_a_task_is_revived_once(explore: Explore, other: Revivification) -> None:
    """Of two who revive a task, one does; the other is told that it is not to be revived any more (P1)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert sorted(map(str, end.values().values())) == ["1", "TaskStateError"]
        assert end.states("a").count(TaskState.READY) == 1

    actors = {"one": recreate(tasks, "a", Revivification.APPEND), "two": recreate(tasks, "a", other)}
    explore(Scenario(actors, judge, scene(tasks, "a", suspended=True), serial=True))


def revive_state(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
    """Revive the first SUSPENDED task."""
    revived = repository.recreate_state(tx, TOPIC, Revivification.REPLACE, SUSPENDED)
    return [task.sequence for task in revived]


def test_tasks_in_a_state_are_revived_once(explore: Explore) -> None:
    """Two who revive what they find share it (P1, P5)."""

    def judge(end: End) -> None:
        revived = [sequence for value in end.values().values() for sequence in value]  # type: ignore[attr-defined]
        assert len(revived) == len(set(revived))
        assert len(end.rows) == 2 + len(revived)

    explore(Scenario({"one": revive_state, "two": revive_state}, judge, scene({}, "ab", suspended=True), serial=True))


def test_a_reassigned_task_is_revived_or_not(explore: Explore) -> None:
    """Both look at the task as it is when they have it (P1)."""
    tasks: Tasks = {}

    def reassign(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        repository.reassign(tx, TOPIC, {tasks["a"]: TaskResult.FAILURE})
        return True

    actors = {"one": reassign, "two": recreate(tasks, "a", Revivification.RESET)}
    explore(Scenario(actors, lambda _: None, scene(tasks, "a", suspended=True), serial=True))


def test_a_purge_takes_what_is_decided(explore: Explore) -> None:
    """And leaves what is not, also if it is decided meanwhile (P1)."""
    tasks: Tasks = {}

    def purge(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        return repository.purge(tx, TOPIC)

    actors = {"one": complete(tasks, "a", TaskDecision.FAILURE), "two": purge}
    explore(Scenario(actors, lambda _: None, scene(tasks, "b", held="a"), serial=True))


def test_a_task_comes_due_once(explore: Explore) -> None:
    """Of two who promote, one does; who polls meanwhile gets the task or not (P1)."""

    def promote_and_poll(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
        repository.promote(tx, TOPIC)
        tx.commit()
        return poll()(repository, tx)

    def due(repository: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a connection
        repository.push(tx, TOPIC, "a")
        tx.execute("UPDATE task SET state = 4, due = statement_timestamp()")

    def judge(end: End) -> None:
        claims = [value for value in end.values().values() if value]
        [row] = end.of("a")
        assert len(claims) == row.token == (row.state is TaskState.ACTIVE)

    explore(Scenario({"one": promote_and_poll, "two": promote_and_poll}, judge, due, large=True))


def test_a_push_to_a_topic_that_is_destroyed(explore: Explore) -> None:
    """A task that was pushed is there with its topic, or both are gone (P1)."""
    explore(Scenario({"one": push("a"), "two": _destroy}, lambda _: None, scene({}, "b"), serial=True))


def test_a_copy_in_a_topic_that_is_destroyed(explore: Explore) -> None:
    """A task that was recreated goes with its topic (P1)."""
    tasks: Tasks = {}

    def judge(end: End) -> None:
        assert end.of("a") == []

    actors = {"one": recreate(tasks, "a", Revivification.APPEND), "two": _destroy}
    explore(Scenario(actors, judge, scene(tasks, "a", suspended=True)))


def _destroy(repository: TaskRepository[Any], tx: Any) -> object:  # noqa: ANN401 - a connection
    return repository.destroy(tx, TOPIC)
