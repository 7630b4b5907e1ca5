"""Tasks are linked while others decide, recreate or remove what they wait for, and miss no signal (P6)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from task_api import (
    Claim,
    Dependency,
    Insertion,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
    TaskStateError,
)
from tests.backends.steps import info, poll, push, states
from tests.conformance.waiters import ref
from tests.contention import links
from tests.contention.member import TIMEOUT, part
from tests.contention.waiters import ROUNDS, after, each_end, servers, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.contention.processes import Processes
    from tests.contention.threads import Actor, Threads

pytestmark = pytest.mark.kinds("driver")

READY, SUSPENDED, FAILED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED, TaskState.SUCCEEDED


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
