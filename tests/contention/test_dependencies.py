"""Tasks that wait for others are released exactly once, whoever decides what at the same time (P6)."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy

from task_api import (
    Claim,
    Dependency,
    DependencyCycleError,
    Insertion,
    InvalidTaskError,
    OnAbort,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskResult,
    TaskState,
    TaskStateError,
)
from tests.backends.steps import info, poll, push, states
from tests.contention import links
from tests.contention.member import CROWD, TIMEOUT, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")
servers = pytest.mark.backends("postgresql", "oracle")
each_end = pytest.mark.parametrize("end", ["commit", "rollback"])

READY, SUSPENDED, FAILED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED, TaskState.SUCCEEDED
OTHER = "other"
ROUNDS = {"postgresql": 500, "sqlite": 60, "oracle": 30}


@pytest.fixture
def other(backend: Backend, repository: TaskRepository[Any]) -> str:
    """A second topic."""
    with backend.begin() as tx:
        repository.initialize(tx, OTHER)
    return OTHER


def ref(task: Task, topic: str = "topic") -> TaskRef:
    """The full name of a task."""
    return TaskRef(topic, task.sequence)


def after(
    backend: Backend, repository: TaskRepository[Any], topic: str, *groups: list[TaskRef], **fields: Any
) -> list[Task]:
    """Push a task after each group of others."""
    creations = [TaskCreation(str(place), after=tuple(group), **fields) for place, group in enumerate(groups)]
    with backend.begin() as tx:
        return repository.push_many(tx, topic, creations)


def waiting(backend: Backend, repository: TaskRepository[Any], topic: str) -> set[TaskState]:
    """The states of a topic."""
    return set(states(backend, repository, topic).values())


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


# Linking against deciding ------------------------------------------------------------------------------------------


def test_linking_and_deciding_at_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, crowd: Threads | Processes
) -> None:
    """Whichever comes first, the task is READY in the end (P6, S1-19)."""
    rounds = ROUNDS[backend.name] // 2
    older = push(backend, repository, topic, *(f"older {number}" for number in range(rounds)))
    push(backend, repository, topic, *map(str, range(2 * rounds)))
    newer = push(backend, repository, topic, *(f"newer {number}" for number in range(rounds)))
    held = poll(backend, repository, topic, 3 * rounds)
    with backend.begin() as tx:
        repository.release(tx, topic, held[:rounds])
    one, two = held[rounds : 2 * rounds], held[2 * rounds :]
    crowd.race(
        part("me", links.finish_each, topic=topic, tasks=one),
        part("me", links.finish_each, topic=topic, tasks=two),
        part("a", links.depend_each, topic=topic, tasks=older, others=one),
        part("b", links.depend_each, topic=topic, tasks=newer, others=two),
    )
    found = states(backend, repository, topic)
    assert {found[task.sequence] for task in (*older, *newer)} == {READY}
    assert {found[task.sequence] for task in held[rounds:]} == {SUCCEEDED}


def test_pushing_and_deciding_at_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, other: str, *, crowd: Threads | Processes
) -> None:
    """Also where what is waited for waits for another of them itself, of a topic that comes later (P6, P7)."""
    rounds = ROUNDS[backend.name] // 2
    push(backend, repository, topic, *map(str, range(2 * rounds)))
    tasks = poll(backend, repository, topic, 2 * rounds)
    one, two = tasks[:rounds], tasks[rounds:]
    between = after(backend, repository, other, *([ref(task)] for task in two))
    pushed = crowd.race(
        part("me", links.finish_each, topic=topic, tasks=one),
        part("me", links.finish_each, topic=topic, tasks=two),
        part("a", links.push_each, topic=topic, others=[[ref(task)] for task in one]),
        part(
            "b",
            links.push_each,
            topic=topic,
            others=[[ref(task), ref(mid, other)] for task, mid in zip(two, between, strict=True)],
        ),
    )
    found = states(backend, repository, topic)
    assert {found[task.sequence] for task in pushed[2]} == {READY}
    assert {found[task.sequence] for task in pushed[3]} == {SUSPENDED}
    assert waiting(backend, repository, other) == {READY}
    mids = poll(backend, repository, other, rounds)
    with backend.begin() as tx:
        repository.complete_many(tx, other, dict.fromkeys(mids, TaskDecision.SUCCESS))
    assert waiting(backend, repository, topic) == {READY, SUCCEEDED}


def test_recreating_and_deciding_at_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, other: str, *, crowd: Threads | Processes
) -> None:
    """A copy takes over what its original waits for, and misses no signal (P6)."""
    rounds = ROUNDS[backend.name] // 2
    push(backend, repository, topic, *map(str, range(4 * rounds)))
    tasks = poll(backend, repository, topic, 4 * rounds)
    thirds = [tasks[place * rounds : (place + 1) * rounds] for place in range(4)]
    groups = [[ref(third[place]) for third in thirds[:3]] for place in range(rounds)]
    dependents = after(backend, repository, other, *groups)
    *_, copies = crowd.race(
        *(part("me", links.finish_each, topic=topic, tasks=third) for third in thirds[:3]),
        part("a", links.recreate_each, topic=other, tasks=dependents),
    )
    assert waiting(backend, repository, other) <= {READY, TaskState.RECREATED}
    with backend.begin() as tx:
        ready = repository.poll_many(tx, other, rounds + 1)
    assert len(ready) == rounds
    assert {task.sequence for task in copies} <= {task.sequence for task in ready}


@servers
@each_end
@pytest.mark.parametrize("linking", ["push", "depend older", "depend newer"])
@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FAILURE], ids=lambda result: result.name)
def test_who_links_waits_for_the_decision(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *,
    actor: Callable[[str], Actor],
    end: str,
    linking: str,
    result: TaskResult,
) -> None:
    """It sees what became of the task, or that it is still to be waited for (P6, S1-19)."""
    [older] = push(backend, repository, topic, "task")
    push(backend, repository, topic, "first")
    spare, held = poll(backend, repository, topic, 2)
    with backend.begin() as tx:
        repository.release(tx, topic, [spare])
    [newer] = push(backend, repository, topic, "task")
    deciding, linked = actor("me"), actor("you")
    deciding.run(lambda r, tx: r.complete(tx, topic, held, TaskDecision(result)))

    def link(r: TaskRepository[Any], tx: Any) -> Task:  # noqa: ANN401 - a driver's connection
        if linking == "push":
            return r.push(tx, topic, TaskCreation("new", after=(held,)))
        waiting = older if linking == "depend older" else newer
        r.depend(tx, [Dependency(ref(waiting), ref(held))])
        return waiting

    call = linked.start(link)
    assert linked.waits(call)
    getattr(deciding, end)()
    task = call.result(TIMEOUT)
    linked.commit()
    decided = READY if result is TaskResult.SUCCESS else FAILED
    assert info(backend, repository, topic, task).state is (decided if end == "commit" else SUSPENDED)


@servers
@each_end
def test_who_decides_waits_for_those_who_link(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], end: str
) -> None:
    """The decision reaches a link that was made before it (P6)."""
    push(backend, repository, topic, "first")
    [held] = poll(backend, repository, topic)
    deciding, linked = actor("me"), actor("you")
    task = linked.run(lambda r, tx: r.push(tx, topic, TaskCreation("new", after=(held,))))
    call = deciding.start(lambda r, tx: r.complete(tx, topic, held))
    deciding.waits(call)
    getattr(linked, end)()
    call.result(TIMEOUT)
    deciding.commit()
    found = states(backend, repository, topic)
    assert found == {held.sequence: SUCCEEDED} | ({task.sequence: READY} if end == "commit" else {})


@servers
@pytest.mark.parametrize("awaited", [False, True], ids=["unawaited", "awaited"])
@pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)
@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FAILURE], ids=lambda result: result.name)
def test_who_links_and_who_decides_never_wait_for_each_other(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *,
    actor: Callable[[str], Actor],
    awaited: bool,
    claim: Claim,
    result: TaskResult,
) -> None:
    """A push after a task that the decision releases, and after another that it holds as well (P6, P7)."""
    [first] = push(backend, repository, topic, "first")
    [between] = after(backend, repository, topic, [ref(first)])
    [last] = push(backend, repository, topic, "last")
    if awaited:
        after(backend, repository, topic, [ref(last)])
    deciding, linking = actor("me"), actor("you")
    held = deciding.run(lambda r, tx: r.poll_many(tx, topic, 2, claim=claim))
    assert [task.sequence for task in held] == [first.sequence, last.sequence]
    rest = held
    if claim is Claim.COMMITTED:
        deciding.commit()
        if result is TaskResult.SUCCESS:  # what fails together with others is decided with them in one call
            deciding.run(lambda r, tx: r.complete(tx, topic, held[1]))
            rest = held[:1]
    creation = TaskCreation("new", after=(between, last))
    pushed = linking.start(lambda r, tx: r.push(tx, topic, creation))
    linking.waits(pushed)
    decided = deciding.start(lambda r, tx: r.complete_many(tx, topic, dict.fromkeys(rest, TaskDecision(result))))
    if pushed.done():
        deciding.waits(decided)
        linking.commit()
    decided.result(TIMEOUT)
    deciding.commit()
    task = pushed.result(TIMEOUT)
    linking.commit()
    if result is TaskResult.SUCCESS:
        ready = poll(backend, repository, topic, 3)
        assert between.sequence in {found.sequence for found in ready}
        assert task.sequence not in {found.sequence for found in ready}
        with backend.begin() as tx:
            repository.complete_many(tx, topic, dict.fromkeys(ready, TaskDecision.SUCCESS))
    expected = READY if result is TaskResult.SUCCESS else FAILED
    assert info(backend, repository, topic, task).state is expected


@servers
@each_end
@pytest.mark.parametrize("first", ["recreate", "complete"])
@pytest.mark.parametrize("result", [TaskResult.SUCCESS, TaskResult.FAILURE], ids=lambda result: result.name)
def test_a_signal_follows_the_copy(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *,
    actor: Callable[[str], Actor],
    end: str,
    first: str,
    result: TaskResult,
) -> None:
    """Recreating what waits, against the decision on what it waits for, in both orders (P6)."""
    push(backend, repository, topic, "first")
    [held] = poll(backend, repository, topic)
    bystander, task = after(backend, repository, topic, [ref(held)], [ref(held)])
    deciding, reviving = actor("me"), actor("you")

    def complete(r: TaskRepository[Any], tx: Any) -> None:  # noqa: ANN401 - a driver's connection
        r.complete(tx, topic, held, TaskDecision(result))

    def recreate(r: TaskRepository[Any], tx: Any) -> Task | None:  # noqa: ANN401 - a driver's connection
        with suppress(TaskStateError):
            return r.recreate(tx, topic, Revivification.APPEND, [task])[task]
        return None

    if first == "recreate":
        copy = reviving.run(recreate)
        call = deciding.start(complete)
        deciding.waits(call)
        getattr(reviving, end)()
        call.result(TIMEOUT)
        deciding.commit()
    else:
        deciding.run(complete)
        revived = reviving.start(recreate)
        reviving.waits(revived)
        getattr(deciding, end)()
        copy = revived.result(TIMEOUT)
        reviving.commit()
    found = states(backend, repository, topic)
    good = result is TaskResult.SUCCESS
    present = copy if copy and copy.sequence in found else task
    if end == "rollback" and first == "complete":
        assert copy is not None
        assert found[copy.sequence] is SUSPENDED
        deciding.run(complete)
        deciding.commit()
        found = states(backend, repository, topic)
        present = copy
    # A task that failed for the other and was revived afterwards runs despite it.
    despite = first == "complete" and end == "commit"
    assert found[present.sequence] is (READY if good or despite else FAILED)
    assert found[bystander.sequence] is (READY if good else FAILED)


@servers
@pytest.mark.parametrize("gone", ["purge", "replace", "recreate"])
def test_who_links_waits_for_who_removes(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], gone: str
) -> None:
    """What was purged meanwhile is not waited for, what gave way has failed, what was recreated is refused (P6)."""
    [other] = push(backend, repository, topic, "other", suspended=True)
    removing, linked = actor("me"), actor("you")
    removing.run(
        {
            "purge": lambda r, tx: r.purge(tx, topic, states=[SUSPENDED]),
            "replace": lambda r, tx: r.push(tx, topic, "other", insertion=Insertion.REPLACE),
            "recreate": lambda r, tx: r.recreate(tx, topic, Revivification.APPEND, [other]),
        }[gone]
    )
    call = linked.start(lambda r, tx: r.push(tx, topic, TaskCreation("new", after=(other,))))
    assert linked.waits(call)
    removing.commit()
    if gone == "recreate":
        with pytest.raises(TaskStateError):
            call.result(TIMEOUT)
        linked.rollback()
        return
    task = call.result(TIMEOUT)
    linked.commit()
    assert info(backend, repository, topic, task).state is (READY if gone == "purge" else FAILED)


@servers
@pytest.mark.parametrize("gone", ["purge", "replace"])
def test_who_removes_waits_for_who_links(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], gone: str
) -> None:
    """The link was there first: the task fails with what it waits for, or that stays (P6)."""
    [other] = push(backend, repository, topic, "other", suspended=True)
    removing, linked = actor("me"), actor("you")
    task = linked.run(lambda r, tx: r.push(tx, topic, TaskCreation("new", after=(other,))))
    call = removing.start(
        {
            "purge": lambda r, tx: r.purge(tx, topic, states=[SUSPENDED]),
            "replace": lambda r, tx: r.push(tx, topic, "other", insertion=Insertion.REPLACE),
        }[gone]
    )
    removing.waits(call)
    linked.commit()
    removed = call.result(TIMEOUT)
    removing.commit()
    found = states(backend, repository, topic)
    if gone == "purge" and not removed:
        assert found == {other.sequence: SUSPENDED, task.sequence: SUSPENDED}
    else:
        assert found[task.sequence] is FAILED


# Cycles ----------------------------------------------------------------------------------------------------


def test_halves_of_a_cycle_that_come_at_once(
    backend: Backend, repository: TaskRepository[Any], topic: str, other: str, *, crowd: Threads | Processes
) -> None:
    """Of two halves one is refused; of four quarters, too (P7, S1-B5)."""
    rounds = ROUNDS[backend.name] // 4
    names = [str(number) for number in range(2 * rounds)]
    near = [ref(task) for task in push(backend, repository, topic, *names)]
    far = [ref(task, other) for task in push(backend, repository, other, *names)]
    accepted = crowd.race(
        part("a", links.close_cycles, pairs=list(zip(near[::2], far[::2], strict=True))),
        part("b", links.close_cycles, pairs=list(zip(far[::2], near[1::2], strict=True))),
        part("c", links.close_cycles, pairs=list(zip(near[1::2], far[1::2], strict=True))),
        part("d", links.close_cycles, pairs=list(zip(far[1::2], near[::2], strict=True))),
    )
    assert [sum(quarters) for quarters in zip(*accepted, strict=True)] == [3] * rounds


@servers
@each_end
def test_the_second_half_of_a_cycle_waits_for_the_first(
    backend: Backend, repository: TaskRepository[Any], topic: str, *, actor: Callable[[str], Actor], end: str
) -> None:
    """And is refused if that is committed; its transaction stays usable (P7, S1-B5)."""
    one, two = push(backend, repository, topic, "one", "two")
    early, late = actor("me"), actor("you")
    early.run(lambda r, tx: r.depend(tx, [Dependency(ref(one), ref(two))]))
    call = late.start(lambda r, tx: r.depend(tx, [Dependency(ref(two), ref(one))]))
    assert late.waits(call)
    getattr(early, end)()
    if end == "commit":
        with pytest.raises(DependencyCycleError):
            call.result(TIMEOUT)
        assert late.run(lambda r, tx: r.predecessors(tx, ref(two))) == []
    else:
        call.result(TIMEOUT)
    late.commit()
    found = states(backend, repository, topic)
    waits = one if end == "commit" else two
    assert found == {task.sequence: SUSPENDED if task is waits else READY for task in (one, two)}


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
