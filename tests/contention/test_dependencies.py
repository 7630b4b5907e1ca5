"""Tasks that wait for others are released exactly once, whoever decides what at the same time (P6)."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy

from task_api import InvalidTaskError, OnAbort, TaskDecision, TaskResult, TaskState
from tests.backends.steps import info, poll, push, states
from tests.conformance.waiters import ref
from tests.contention import links
from tests.contention.member import CROWD, TIMEOUT, part
from tests.contention.waiters import ROUNDS, after, each_end, servers, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")

READY, SUSPENDED, FAILED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED, TaskState.SUCCEEDED


# The last decision, made by several at once --------------------------------------------------------------------------


@pytest.mark.kinds("plain")
@pytest.mark.parametrize("parts", [2, 4])
def test_the_last_decisions_at_once_release_a_task_once(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    other: str,
    *,
    crowd: Threads | Processes,
    parts: int,
) -> None:
    """Two or four that complete what a task waits for: it is released, and done once (P6, S1-05, S1-14)."""
    rounds = ROUNDS[backend.name]
    push(backend, repository, topic, *map(str, range(rounds * CROWD)))
    tasks = poll(backend, repository, topic, rounds * CROWD)
    groups = [tasks[start : start + parts] for start in range(0, len(tasks), parts)]
    dependents = after(backend, repository, other, *([ref(task) for task in group] for group in groups))

    taken = crowd.race(
        *(
            part("me", links.finish_and_take, topic=topic, then=other, tasks=tasks[index::CROWD])
            for index in range(CROWD)
        )
    )

    assert sorted(sum(taken, [])) == [task.sequence for task in dependents]  # noqa: RUF017 - four lists
    assert waiting(backend, repository, other) == {SUCCEEDED}


@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FAILURE], ids=lambda result: result.name)
def test_batches_that_share_those_who_wait_do_not_lock_each_other(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, crowd: Threads | Processes, result: TaskResult
) -> None:
    """Four batches, each with a part of what every task waits for: all go through (P6, P7)."""
    push(backend, repository, topic, *map(str, range(400)))
    tasks = poll(backend, repository, topic, 400)
    groups = [[ref(task) for task in tasks[start : start + CROWD]] for start in range(0, 400, CROWD)]
    random.Random(4).shuffle(groups)  # noqa: S311 - a test
    first = after(backend, repository, topic, *groups)
    second = after(backend, repository, topic, *([ref(one), ref(two)] for one, two in pairwise(first)))
    crowd.race(
        *(
            part("me", links.finish_together, topic=topic, tasks=tasks[index::CROWD], result=result)
            for index in range(CROWD)
        )
    )
    found = states(backend, repository, topic)
    good = result is TaskResult.SUCCESS
    assert {found[task.sequence] for task in first} == {READY if good else FAILED}
    assert {found[task.sequence] for task in second} == {SUSPENDED if good else FAILED}


@servers
@each_end
def test_the_second_of_two_last_decisions_releases(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], end: str
) -> None:
    """It waits for the first, and sees its signal, or that there is none (P6)."""
    push(backend, repository, topic, "one", "two")
    one, two = poll(backend, repository, topic, 2)
    [task] = after(backend, repository, topic, [ref(one), ref(two)])
    early, late = actor("me"), actor("me")
    early.run(lambda r, tx: r.complete(tx, topic, one))
    completing = late.start(lambda r, tx: r.complete(tx, topic, two))
    late.waits(completing)
    getattr(early, end)()
    completing.result(TIMEOUT)
    late.commit()
    expected = READY if end == "commit" else SUSPENDED
    assert info(backend, repository, topic, task).state is expected
    if end == "rollback":
        early.run(lambda r, tx: r.complete(tx, topic, one))
        early.commit()
        assert info(backend, repository, topic, task).state is READY


@pytest.mark.backends("postgresql")
@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_snapshot_loses_no_signal(
    backend: Backend, repository: TaskRepository[Any], topic: str, isolation: str
) -> None:
    """Where a transaction can't see the other's signal, it is refused, and nothing is lost (P6, P1)."""
    push(backend, repository, topic, "one", "two")
    tasks = poll(backend, repository, topic, 2)
    [dependent] = after(backend, repository, topic, [ref(task) for task in tasks])
    connections = [backend.engine.connect().execution_options(isolation_level=isolation) for _ in tasks]
    for connection in connections:
        connection.execute(sqlalchemy.text("SELECT 1 FROM task"))
    refused = []
    for connection, task in zip(connections, tasks, strict=True):
        with connection:
            try:
                repository.complete(connection, topic, task)
                connection.commit()
            except InvalidTaskError:
                connection.commit()  # nothing was changed
                refused.append(task)
            except sqlalchemy.exc.OperationalError:
                connection.rollback()
                refused.append(task)
    for task in refused:
        with backend.begin() as tx:
            repository.complete(tx, topic, task)
    assert info(backend, repository, topic, dependent).state is READY


# All at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_random_graph_comes_to_its_only_end(
    backend: Backend, repository: TaskRepository[Any], topic: str, other: str, *, crowd: Threads | Processes, seed: int
) -> None:
    """Three work on what a fourth still pushes; each task ends as those before it say (P1, P6, S1-14, S1-15)."""
    chance = random.Random(seed)  # noqa: S311 - a test
    number = {"postgresql": 400, "sqlite": 200, "oracle": 60}[backend.name]
    before = [
        sorted(chance.sample(range(place), min(place, chance.choice([0, 1, 1, 2, 3])))) for place in range(number)
    ]
    choices = [chance.choice([OnAbort.CASCADE, OnAbort.CASCADE, OnAbort.RUN, OnAbort.WAIT]) for _ in range(number)]
    results = [TaskResult.SUCCESS] * 8 + [TaskResult.FILTER, TaskResult.FAILURE]
    fates = {str(place): chance.choice(results) for place in range(number)}
    topics = [topic, other]
    _, *done = crowd.race(
        part("p", links.push_graph, topics=topics, after=before, choices=choices),
        *(part(f"w{index}", links.work, topics=topics, fates=fates) for index in range(CROWD - 1)),
    )
    # The last push may come when the workers have left.
    rest = _work_off(backend, repository, topics, fates)

    ran = [task for each in (*done, rest) for task in each]
    assert len(ran) == len(set(ran)), "a task was done twice"
    failed_before = {task: failed for each in (*done, rest) for task, failed in each.items()}
    expected = _expected(before, choices, fates)
    with backend.begin() as tx:
        found = {
            int(task.identifier): task.state for name in topics for task in repository.page(tx, name, size=number + 1)
        }
    assert found == dict(enumerate(expected))
    for place, others in enumerate(before):
        if choices[place] is OnAbort.RUN and str(place) in failed_before:
            assert failed_before[str(place)] == sum(expected[other] is FAILED for other in others)


def _work_off(
    backend: Backend, repository: TaskRepository[Any], topics: list[str], fates: dict[str, TaskResult]
) -> dict[str, int]:
    done: dict[str, int] = {}
    found = True
    while found:
        found = False
        for topic in topics:
            for task in poll(backend, repository, topic, 10):
                found = True
                done[task.identifier] = task.failed
                with backend.begin() as tx:
                    repository.complete(tx, topic, task, TaskDecision(fates[task.identifier]))
    return done


def _expected(before: list[list[int]], choices: list[OnAbort], fates: dict[str, TaskResult]) -> list[TaskState]:
    """Where each task ends, by those that it waits for."""
    ends: list[TaskState] = []
    for place, others in enumerate(before):
        seen = {ends[other] for other in others}
        if choices[place] is OnAbort.CASCADE and FAILED in seen:
            ends.append(FAILED)
        elif SUSPENDED in seen or (choices[place] is OnAbort.WAIT and FAILED in seen):
            ends.append(SUSPENDED)
        else:
            ends.append(fates[str(place)].state)
    return ends
