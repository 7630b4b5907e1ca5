"""Tasks that wait for others, until all of them are done (section 23 of BEHAVIOURS.md)."""

from math import isqrt

import pytest

from task_api import (
    Claim,
    Dependency,
    Insertion,
    NamedTask,
    Order,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskState,
    TaskStateError,
    UnknownTopicError,
)
from tests.backends import Backend
from tests.backends.steps import complete, drive, info, poll, push, states
from tests.conformance.scenes import Repository, one_of_each, run
from tests.conformance.waiters import HOUR, decide, few, link, others_topic, push_after, ref, state_of, work_off

READY, SUSPENDED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.SUCCEEDED


@pytest.mark.parametrize("last", [TaskDecision.SUCCESS, TaskDecision.FILTER], ids=["SUCCEEDED", "FILTERED"])
def test_a_task_waits_until_all_are_done(
    backend: Backend, repository: Repository, topic: str, last: TaskDecision
) -> None:
    """SUSPENDED until the last of them is decided, then READY; a filtered one is done too (S1-01, S1-03, S1-14)."""
    one, two = push(backend, repository, topic, "one", "two")
    task = push_after(backend, repository, topic, "task", one, two)
    seen = state_of(backend, repository, topic, task)
    decide(backend, repository, topic, two)
    seen += state_of(backend, repository, topic, task)
    decide(backend, repository, topic, one, decision=last)
    seen += state_of(backend, repository, topic, task)

    assert seen == [SUSPENDED, SUSPENDED, READY]
    [polled] = poll(backend, repository, topic, 9)
    assert (polled, polled.attempt, polled.failed) == (task, 1, 0)
    stored = info(backend, repository, topic, task)
    assert (stored.descent, stored.output, stored.completed) == (READY, None, None)


@few
@pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)
def test_one_batch_releases_what_waits_for_all_of_it(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """Two that are decided in one call count as two, however they are held (S1-14)."""
    others = push(backend, repository, topic, *"abcd")
    task = push_after(backend, repository, topic, "task", *others[:3])
    with backend.begin() as tx:
        tasks = repository.poll_many(tx, topic, 4, claim=claim)
        decisions = dict(zip(tasks, [TaskDecision.SUCCESS, TaskDecision.FILTER] * 2, strict=True))
        repository.complete_many(tx, topic, decisions)
    assert state_of(backend, repository, topic, task) == [READY]


@few
def test_what_waits_is_not_polled(backend: Backend, repository: Repository, topic: str) -> None:
    """Under no order (S1-03)."""
    [other] = push(backend, repository, topic, "other")
    push_after(backend, repository, topic, "task", other)
    for order in Order:
        tasks = poll(backend, repository, topic, 5, order=order)
        assert tasks == [other]
        run(backend, repository.release, topic, tasks)


@few
def test_a_released_task_has_its_place_in_the_order(backend: Backend, repository: Repository, topic: str) -> None:
    """It comes before those that were pushed after it, also where these were polled meanwhile (S1-B7, P3)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other)
    later = push(backend, repository, topic, *map(str, range(30)))
    [held] = poll(backend, repository, topic)
    for start in (0, 10):
        tasks = poll(backend, repository, topic, 10)
        assert tasks == later[start : start + 10]
        complete(backend, repository, topic, tasks)
    complete(backend, repository, topic, held)
    assert poll(backend, repository, topic, 3) == [task, *later[20:22]]


@few
def test_decided_in_the_transaction_that_pushed(backend: Backend, repository: Repository, topic: str) -> None:
    """One transaction may push, decide, and poll what that released."""
    with backend.begin() as tx:
        other = repository.push(tx, topic, "other")
        task = repository.push(tx, topic, TaskCreation("task", after=(other,)))
        claimed = repository.poll(tx, topic)
        assert claimed == other
        assert repository.poll(tx, topic) is None
        repository.complete(tx, topic, claimed)
        assert repository.poll(tx, topic) == task


@few
def test_a_rolled_back_decision_releases_nothing(backend: Backend, repository: Repository, topic: str) -> None:
    """The release belongs to the transaction that decides (P7)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other)
    [held] = poll(backend, repository, topic)
    tx = backend.open()
    repository.complete(tx, topic, held)
    backend.close(tx)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    complete(backend, repository, topic, held)
    assert state_of(backend, repository, topic, task) == [READY]


def test_tasks_are_named_in_several_ways(backend: Backend, repository: Repository, topic: str) -> None:
    """By what a push returned, by a stored task, and by topic and number (S1-19)."""
    one, two, three = push(backend, repository, topic, *"123")
    stored = info(backend, repository, topic, two)
    task = push_after(backend, repository, topic, "task", one, stored, ref(three))
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(task)) == [ref(one), ref(two), ref(three)]
        assert repository.dependents(tx, stored) == [ref(task)]
        waiting = repository.task(tx, topic, task.sequence)
        assert waiting is not None
        repository.depend(tx, [Dependency(waiting, stored)])
        assert repository.predecessors(tx, waiting) == [ref(one), ref(two), ref(three)]


def test_tasks_of_other_topics_are_waited_for(backend: Backend, repository: Repository, topic: str) -> None:
    """A dependency reaches from any topic to any other (S1-14)."""
    other = others_topic(backend, repository)
    [far] = push(backend, repository, other, "far")
    [near] = push(backend, repository, topic, "near")
    task = push_after(backend, repository, topic, "task", near, ref(far, other))
    back = push_after(backend, repository, other, "back", ref(task))

    decide(backend, repository, topic, near)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, other, far)
    assert state_of(backend, repository, topic, task) == [READY]
    decide(backend, repository, topic, task)
    assert state_of(backend, repository, other, back) == [READY]
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(task)) == [ref(far, other), ref(near)]
        assert repository.dependents(tx, ref(task)) == [ref(back, other)]


@few
def test_links_are_remembered(backend: Backend, repository: Repository, topic: str) -> None:
    """They are told also when all is decided, and a task without any has none."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other)
    assert work_off(backend, repository, topic) == [other, task]
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(task)) == [ref(other)]
        assert repository.dependents(tx, ref(other)) == [ref(task)]
        assert repository.predecessors(tx, ref(other)) == repository.dependents(tx, ref(task)) == []
        assert repository.dependents(tx, ref(other, "elsewhere")) == []


@few
@pytest.mark.parametrize(
    "decision",
    [TaskDecision.SUSPENSION, TaskDecision.suspension("later", HOUR), TaskDecision.retry(HOUR, "not yet")],
    ids=["suspended", "due", "retry"],
)
def test_a_suspension_is_no_decision(
    backend: Backend, repository: Repository, topic: str, decision: TaskDecision
) -> None:
    """One that comes back is waited for (S1-11)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other)
    decide(backend, repository, topic, other, decision=decision)
    assert state_of(backend, repository, topic, other, task) == [SUSPENDED, SUSPENDED]
    run(backend, repository.junction, topic, [{"other"}])
    decide(backend, repository, topic, other)
    assert state_of(backend, repository, topic, task) == [READY]


@few
@pytest.mark.parametrize("state", [TaskState.ACTIVE, TaskState.EXPIRED], ids=lambda state: state.name)
def test_what_is_under_way_is_waited_for(
    backend: Backend, repository: Repository, topic: str, state: TaskState
) -> None:
    """Also if it came to be so before the other was pushed (S1-07, S1-19)."""
    [other] = push(backend, repository, topic, "other")
    early = push_after(backend, repository, topic, "early", other)
    drive(backend, repository, topic, other, state)
    late = push_after(backend, repository, topic, "late", other)
    assert state_of(backend, repository, topic, early, late) == [SUSPENDED] * 2
    if state is TaskState.EXPIRED:
        run(backend, repository.recreate, topic, Revivification.RESET, [other])
        decide(backend, repository, topic, other)
    else:
        taken = run(backend, repository.eject, topic, other)
        complete(backend, repository, topic, taken)
    assert state_of(backend, repository, topic, early, late) == [READY] * 2


@few
def test_what_is_done_or_gone_is_not_waited_for(backend: Backend, repository: Repository, topic: str) -> None:
    """No waiting remains for a finished task, or one that is not there (S1-19, S1-B3)."""
    tasks = one_of_each(backend, repository, topic, [SUCCEEDED, TaskState.FILTERED])
    [gone] = push(backend, repository, topic, "gone")
    run(backend, repository.purge, topic, states=[READY])
    elsewhere = TaskRef("elsewhere", tasks[SUCCEEDED].sequence)

    others: list[Task | NamedTask] = [*tasks.values(), gone, elsewhere, TaskRef(topic, 0)]
    fresh = [push_after(backend, repository, topic, "fresh", other) for other in others]
    both = push_after(backend, repository, topic, "both", gone, tasks[SUCCEEDED])
    [linked] = push(backend, repository, topic, "linked")
    run(backend, repository.depend, link(linked, gone, tasks[SUCCEEDED]))

    assert state_of(backend, repository, topic, *fresh, both, linked) == [READY] * 7
    assert poll(backend, repository, topic, 9) == [*fresh, both, linked]


@few
def test_what_is_open_is_waited_for_beside_what_is_gone(backend: Backend, repository: Repository, topic: str) -> None:
    """Each of several counts for itself (S1-19)."""
    gone, done, other = push(backend, repository, topic, "gone", "done", "open")
    run(backend, repository.purge, topic, states=[READY], last=gone.sequence)
    decide(backend, repository, topic, done)
    task = push_after(backend, repository, topic, "task", gone, done, other)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, topic, other)
    assert state_of(backend, repository, topic, task) == [READY]


@few
@pytest.mark.parametrize("call", ["push", "depend"])
def test_a_recreated_task_is_not_waited_for(backend: Backend, repository: Repository, topic: str, call: str) -> None:
    """Another stands for it; the call is refused, and the transaction stays usable (P7)."""
    [task] = push(backend, repository, topic, "task")
    recreated = one_of_each(backend, repository, topic, [TaskState.RECREATED])[TaskState.RECREATED]
    before = states(backend, repository, topic)
    tx = backend.open()

    def wait_for_it() -> None:
        if call == "push":
            repository.push(tx, topic, TaskCreation("new", after=(task, recreated)))
        else:
            repository.depend(tx, link(task, recreated))

    with pytest.raises(TaskStateError) as caught:
        wait_for_it()
    assert caught.value.tasks == {recreated}
    assert repository.task(tx, topic, task.sequence) == task
    backend.commit(tx)
    assert states(backend, repository, topic) == before
    with backend.begin() as other:
        assert repository.predecessors(other, ref(task)) == repository.dependents(other, ref(task)) == []


# Pushes --------------------------------------------------------------------------------------------------------------


@few
def test_a_push_of_many_may_wait_each_for_its_own(backend: Backend, repository: Repository, topic: str) -> None:
    """Some wait, some don't, and the order is that of the push (S1-02)."""
    one, two = push(backend, repository, topic, "one", "two")
    creations = [TaskCreation("a", after=(one,)), TaskCreation("b"), TaskCreation("c", after=(one, two))]
    a, b, c = run(backend, repository.push_many, topic, creations)
    assert state_of(backend, repository, topic, a, b, c) == [SUSPENDED, READY, SUSPENDED]
    assert work_off(backend, repository, topic) == [one, two, a, b, c]


@few
def test_an_unknown_topic_is_refused(backend: Backend, repository: Repository, topic: str) -> None:
    """As with any push; the transaction stays usable (P7)."""
    [other] = push(backend, repository, topic, "other")
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError):
            repository.push(tx, "nowhere", TaskCreation("task", after=(ref(other),)))
        assert repository.dependents(tx, ref(other)) == []


@few
def test_a_unique_push_waits_only_where_it_is_the_first(backend: Backend, repository: Repository, topic: str) -> None:
    """What is there is returned as it is, and gets nothing more to wait for."""
    [other] = push(backend, repository, topic, "other")
    creation = TaskCreation("task", after=(other,))
    first = run(backend, repository.push, topic, creation, insertion=Insertion.UNIQUE)
    [more] = push(backend, repository, topic, "more")
    again = run(backend, repository.push, topic, creation.with_after(more), insertion=Insertion.UNIQUE)
    assert again == first
    with backend.begin() as tx:
        assert repository.predecessors(tx, ref(first)) == [ref(other)]
    assert work_off(backend, repository, topic) == [other, first, more]


@few
@pytest.mark.parametrize(
    "insertion", [Insertion.SUPERSEDE, Insertion.REPLACE, Insertion.DELETE], ids=lambda insertion: insertion.name
)
def test_a_replacing_push_waits(backend: Backend, repository: Repository, topic: str, insertion: Insertion) -> None:
    """Of several with one identifier the last one counts, with what it waits for (S1-17)."""
    one, two = push(backend, repository, topic, "one", "two")
    creations = [TaskCreation("task", after=(one,)), TaskCreation("task", after=(two,))]
    last = run(backend, repository.push_many, topic, creations, insertion=insertion)[-1]
    with backend.begin() as tx:
        assert repository.dependents(tx, ref(one)) == []
        assert repository.predecessors(tx, ref(last)) == [ref(two)]
    assert work_off(backend, repository, topic) == [one, two, last]


@few
def test_no_number_comes_before_its_divisors(backend: Backend, repository: Repository, topic: str) -> None:
    """The numbers from 1 to 63, each after its divisors, pushed from the highest down (S1-14, S1-22)."""
    numbers = list(range(63, 0, -1))
    with backend.begin() as tx:
        tasks = dict(zip(numbers, repository.push_many(tx, topic, map(str, numbers)), strict=True))
        links = [
            Dependency(ref(tasks[number]), ref(tasks[divisor]))
            for number in numbers
            for divisor in {d for low in range(1, isqrt(number) + 1) if number % low == 0 for d in (low, number // low)}
            if divisor < number
        ]
        repository.depend(tx, links)
    done: list[int] = []
    while polled := poll(backend, repository, topic, 5):
        for task in polled:
            assert {d for d in range(1, int(task.identifier)) if int(task.identifier) % d == 0} <= set(done)
        complete(backend, repository, topic, polled)
        done += [int(task.identifier) for task in polled]
    assert sorted(done) == sorted(numbers)
