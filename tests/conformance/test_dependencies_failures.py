"""What becomes of tasks when one that they wait for fails, gives way or is deleted (S1-15 of BEHAVIOURS.md)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from task_api import (
    Claim,
    Insertion,
    OnAbort,
    Task,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
    chain,
    chord,
)
from tests.backends import Backend
from tests.backends.steps import complete, drive, info, poll, push
from tests.conformance.scenes import Repository, run
from tests.conformance.waiters import decide, link, others_topic, push_after, ref, state_of, work_off

READY, SUSPENDED, FAILED, SUCCEEDED = TaskState.READY, TaskState.SUSPENDED, TaskState.FAILED, TaskState.SUCCEEDED
FAILURE = TaskDecision.FAILURE
CASCADE, RUN, WAIT = OnAbort
AFTERWARDS = {CASCADE: FAILED, RUN: READY, WAIT: SUSPENDED}
"""What a task is when the only one that it waits for has failed."""
HOUR = timedelta(hours=1)
pytestmark = pytest.mark.kinds("driver", "plain")
each_choice = pytest.mark.parametrize("on_abort", OnAbort, ids=lambda on_abort: on_abort.name)


@pytest.mark.kinds("connection", "session", "driver", "plain")
def test_a_failure_fails_all_who_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """Directly or not, in any topic, with a message that names the first cause; none of them runs (S1-15)."""
    other = others_topic(backend, repository)
    first, *rest = run(backend, repository.push_graph, topic, chain("first", "second", "third"))
    far = push_after(backend, repository, other, "far", ref(rest[-1]))
    back = push_after(backend, repository, topic, "back", ref(far, other))
    [bystander] = push(backend, repository, topic, "bystander")

    decide(backend, repository, topic, first, decision=TaskDecision.failure("no paper\nand no ink"))

    message = f"not run, because first ({first.sequence}) of topic 'topic' FAILED: no paper"
    for name, task in ((topic, rest[0]), (topic, rest[1]), (other, far), (topic, back)):
        stored = info(backend, repository, name, task)
        assert (stored.state, stored.output, stored.descent) == (FAILED, message, SUSPENDED)
        assert stored.completed is not None
        assert (stored.attempt, stored.polled) == (0, None)
    assert work_off(backend, repository, topic) == [bystander]


@pytest.mark.parametrize("text", ["bad \0 byte", "lone \ud800 half"], ids=["NUL", "surrogate"])
def test_a_failure_that_no_database_can_store_is_told_nevertheless(
    backend: Backend, repository: Repository, topic: str, text: str
) -> None:
    """Decided with others, it says to those who wait what is stored of it (S1-15, CO-07)."""
    first, second = run(backend, repository.push_graph, topic, chain("first", "second"))
    [other] = push(backend, repository, topic, "other")
    held = {task: task for task in poll(backend, repository, topic, 5)}
    decisions = {held[first]: TaskDecision.failure(text), held[other]: TaskDecision.SUCCESS}
    run(backend, repository.complete_many, topic, decisions)

    output = info(backend, repository, topic, first).output
    assert output is not None
    assert state_of(backend, repository, topic, second) == [FAILED]
    assert str(info(backend, repository, topic, second).output).endswith(output)


def test_each_of_a_batch_is_named_to_its_own(backend: Backend, repository: Repository, topic: str) -> None:
    """Decided together, each fails those that wait for it, and only those (S1-15)."""
    others = push(backend, repository, topic, *"abc")
    waiting = [push_after(backend, repository, topic, f"after {other.identifier}", other) for other in others]
    [a, b, c] = poll(backend, repository, topic, 3)
    decisions = {a: TaskDecision.failure("one"), b: TaskDecision.SUCCESS, c: TaskDecision.failure("two")}
    run(backend, repository.complete_many, topic, decisions)
    assert state_of(backend, repository, topic, *waiting) == [FAILED, READY, FAILED]
    outputs = [str(info(backend, repository, topic, task).output) for task in waiting]
    assert (outputs[0].endswith("FAILED: one"), outputs[2].endswith("FAILED: two")) == (True, True)


def test_a_diamond_fails_once(backend: Backend, repository: Repository, topic: str) -> None:
    """Who waits on several ways for the same is told once (S1-15, S1-B8)."""
    top, left, right, bottom, below = run(
        backend, repository.push_graph, topic, chain("top", chord(["left", "right"], "bottom"), "below")
    )
    decide(backend, repository, topic, top, decision=FAILURE)
    assert state_of(backend, repository, topic, left, right, bottom, below) == [FAILED] * 4
    assert poll(backend, repository, topic) == []
    with backend.begin() as tx:
        assert repository.results(tx)[topic][TaskResult.FAILURE] == 5


def test_one_failure_of_several_is_enough(backend: Backend, repository: Repository, topic: str) -> None:
    """The others need not be decided any more, and change nothing when they are (S1-15)."""
    one, two, three = push(backend, repository, topic, *"123")
    task = push_after(backend, repository, topic, "task", one, two, three)
    decide(backend, repository, topic, one)
    decide(backend, repository, topic, two, decision=FAILURE)
    first = info(backend, repository, topic, task)
    assert first.state is FAILED
    decide(backend, repository, topic, three, decision=TaskDecision.failure("another"))
    last = info(backend, repository, topic, task)
    assert (last.state, last.output, last.completed) == (first.state, first.output, first.completed)


@pytest.mark.parametrize("claim", Claim, ids=lambda claim: claim.name)
def test_a_task_that_runs_nevertheless_is_told_how_many_failed(
    backend: Backend, repository: Repository, topic: str, claim: Claim
) -> None:
    """A failed one counts as done; how many there were comes with the claim (S1-06, S1-15)."""
    one, two, three = push(backend, repository, topic, *"123")
    task = push_after(backend, repository, topic, "task", one, two, three, on_abort=RUN)
    for other in (one, two):
        decide(backend, repository, topic, other, decision=FAILURE)
        assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, topic, three)
    assert state_of(backend, repository, topic, task) == [READY]
    with backend.begin() as tx:
        polled = repository.poll(tx, topic, claim=claim)
        assert polled == task
        assert polled.failed == 2
        repository.complete(tx, topic, polled)
    assert state_of(backend, repository, topic, task) == [SUCCEEDED]


def test_who_takes_a_task_over_is_told_how_many_failed(backend: Backend, repository: Repository, topic: str) -> None:
    """Also in a second claim (S1-06)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other, on_abort=RUN)
    decide(backend, repository, topic, other, decision=FAILURE)
    [polled] = poll(backend, repository, topic)
    assert run(backend, repository.eject, topic, polled).failed == 1
    with backend.begin() as tx:
        repository.release(tx, topic, [Task(task.sequence, "task", token=2)])
        again = repository.poll_between(tx, topic, "task", None)
    assert again is not None
    assert (again.failed, again.token) == (1, 3)


def test_a_task_may_go_on_waiting(backend: Backend, repository: Repository, topic: str) -> None:
    """Until the failed one is revived and done (S1-15)."""
    one, two = push(backend, repository, topic, "one", "two")
    task = push_after(backend, repository, topic, "task", one, two, on_abort=WAIT)
    for decision in (FAILURE, FAILURE, TaskDecision.SUCCESS):
        if decision is not FAILURE:
            decide(backend, repository, topic, two)
        decide(backend, repository, topic, one, decision=decision)
        if decision is FAILURE:
            assert state_of(backend, repository, topic, task) == [SUSPENDED]
            run(backend, repository.reassign, topic, {one: TaskResult.SUSPENSION})
            run(backend, repository.junction, topic, [{"one"}])
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (task, 0)


def test_a_failure_stops_where_tasks_run_or_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """Each decides for itself; who failed for another is a failure for those behind it (S1-15)."""
    [first] = push(backend, repository, topic, "first")
    cascading = push_after(backend, repository, topic, "cascading", first)
    running = push_after(backend, repository, topic, "running", cascading, on_abort=RUN)
    waiting = push_after(backend, repository, topic, "waiting", cascading, on_abort=WAIT)
    behind = [push_after(backend, repository, topic, f"behind {task.identifier}", task) for task in (running, waiting)]
    decide(backend, repository, topic, first, decision=FAILURE)
    assert state_of(backend, repository, topic, cascading, running, waiting) == [FAILED, READY, SUSPENDED]
    assert state_of(backend, repository, topic, *behind) == [SUSPENDED] * 2
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (running, 1)
    complete(backend, repository, topic, polled)
    assert state_of(backend, repository, topic, *behind) == [READY, SUSPENDED]


@each_choice
def test_only_the_last_of_several_attempts_fails(
    backend: Backend, repository: Repository, topic: str, on_abort: OnAbort
) -> None:
    """A failure that is tried again is none; that of the last attempt counts as one (S1-11, S1-13, S1-B2)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other, on_abort=on_abort)
    for _ in range(2):
        decide(backend, repository, topic, other, decision=TaskDecision.retry(timedelta(0), "not yet"))
        assert state_of(backend, repository, topic, other, task) == [SUSPENDED] * 2
        assert run(backend, repository.promote, topic) == 1
    decide(backend, repository, topic, other, decision=FAILURE)
    assert state_of(backend, repository, topic, task) == [AFTERWARDS[on_abort]]
    if on_abort is RUN:
        assert [polled.failed for polled in poll(backend, repository, topic)] == [1]


@each_choice
def test_a_task_that_expired_for_the_last_time_fails(
    backend: Backend, repository: Repository, topic: str, on_abort: OnAbort
) -> None:
    """Who waits for it waits as long as it may come back, and is told when a sweep fails it (S1-B1)."""
    [other] = push(backend, repository, topic, "other")
    task = push_after(backend, repository, topic, "task", other, on_abort=on_abort)
    drive(backend, repository, topic, other, TaskState.EXPIRED)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    run(backend, repository.reassign, topic, {other: TaskResult.FAILURE}, message="expired at its last attempt")
    assert state_of(backend, repository, topic, task) == [AFTERWARDS[on_abort]]


# Other ways not to be done -------------------------------------------------------------------------------------------


def _replaced(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401 - any transaction
    repository.push(tx, topic, task.identifier, insertion=Insertion.REPLACE)


def _superseded(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401
    repository.push(tx, topic, task.identifier, insertion=Insertion.SUPERSEDE)


def _deleted(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401
    repository.push(tx, topic, task.identifier, insertion=Insertion.DELETE)


def _purged(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401
    assert repository.purge(tx, topic, states=[READY], last=task.sequence) == 1


def _cleared(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401, ARG001 - all of them
    repository.purge_all(tx, topic)


def _destroyed(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401, ARG001 - all of them
    assert repository.destroy(tx, topic)


def _reassigned(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401
    claimed = repository.eject(tx, topic, task, states=[READY, SUSPENDED])
    repository.complete(tx, topic, claimed, TaskDecision.SUSPENSION)
    repository.reassign(tx, topic, {task: TaskResult.FAILURE})


def _all_reassigned(repository: Repository, tx: Any, topic: str, task: Task) -> None:  # noqa: ANN401
    claimed = repository.eject(tx, topic, task, states=[READY, SUSPENDED])
    repository.complete(tx, topic, claimed, TaskDecision.SUSPENSION)
    repository.reassign_all(tx, topic, SUSPENDED, TaskResult.FAILURE)


WAYS: dict[str, tuple[Callable[[Repository, Any, str, Task], None], str]] = {
    "replaced": (_replaced, "REDUNDANT"),
    "superseded": (_superseded, "REDUNDANT"),
    "deleted": (_deleted, "was deleted"),
    "purged": (_purged, "was deleted"),
    "cleared": (_cleared, "was deleted"),
    "destroyed": (_destroyed, "was deleted"),
    "reassigned": (_reassigned, "FAILED"),
    "all reassigned": (_all_reassigned, "FAILED"),
}
each_way = pytest.mark.parametrize("way", WAYS)


@each_way
@each_choice
def test_an_undecided_task_that_will_never_be_done(
    backend: Backend, repository: Repository, topic: str, *, way: str, on_abort: OnAbort
) -> None:
    """Replaced, deleted or given another result: those who wait learn it as they learn a failure (S1-17, S1-20)."""
    other = others_topic(backend, repository)
    [far] = push(backend, repository, other, "far")
    task = push_after(backend, repository, topic, "task", ref(far, other), on_abort=on_abort)
    behind = push_after(backend, repository, topic, "behind", task)
    act, what = WAYS[way]
    with backend.begin() as tx:
        act(repository, tx, other, far)

    after = AFTERWARDS[on_abort]
    assert state_of(backend, repository, topic, task, behind) == [after, FAILED if after is FAILED else SUSPENDED]
    if on_abort is CASCADE:
        outputs = {str(info(backend, repository, topic, each).output) for each in (task, behind)}
        [output] = outputs
        assert output.startswith("not run, because ")
        assert str(far.sequence) in output
        assert f"of topic 'other' {what}" in output
    elif on_abort is RUN:
        assert [polled.failed for polled in poll(backend, repository, topic)] == [1]


@pytest.mark.parametrize("way", ["replaced", "deleted", "cleared", "destroyed"])
def test_a_done_task_that_goes_changes_nothing(backend: Backend, repository: Repository, topic: str, way: str) -> None:
    """Who waited for it, and waits for another still, has had its signal (S1-20)."""
    other = others_topic(backend, repository)
    [far] = push(backend, repository, other, "far")
    [near] = push(backend, repository, topic, "near")
    task = push_after(backend, repository, topic, "task", ref(far, other), near)
    decide(backend, repository, other, far)
    with backend.begin() as tx:
        WAYS[way][0](repository, tx, other, far)
    assert state_of(backend, repository, topic, task) == [SUSPENDED]
    decide(backend, repository, topic, near)
    [polled] = poll(backend, repository, topic)
    assert (polled, polled.failed) == (task, 0)


def test_finished_tasks_are_purged_without_a_word(backend: Backend, repository: Repository, topic: str) -> None:
    """Signals were sent when they were decided, a failed one's that is waited for stays open (S1-20)."""
    done, failed, near = push(backend, repository, topic, "done", "failed", "near")
    both = push_after(backend, repository, topic, "both", done, near)
    told = push_after(backend, repository, topic, "told", failed, near, on_abort=RUN)
    waits = push_after(backend, repository, topic, "waits", failed, on_abort=WAIT)
    decide(backend, repository, topic, done)
    decide(backend, repository, topic, failed, decision=FAILURE)
    assert run(backend, repository.purge, topic) == 2
    assert state_of(backend, repository, topic, both, told, waits) == [SUSPENDED] * 3
    decide(backend, repository, topic, near)
    assert state_of(backend, repository, topic, both, told, waits) == [READY, READY, SUSPENDED]
    assert [task.failed for task in poll(backend, repository, topic, 9)] == [0, 1]


@pytest.mark.parametrize("way", ["replaced", "deleted", "purged", "cleared", "destroyed"])
def test_a_deleted_task_waits_for_nothing(backend: Backend, repository: Repository, topic: str, way: str) -> None:
    """Its links are forgotten, and what it waited for is decided as ever (S1-20)."""
    other = others_topic(backend, repository)
    [near] = push(backend, repository, topic, "near")
    task = push_after(backend, repository, other, "task", ref(near))
    with backend.begin() as tx:
        if way == "purged":
            assert repository.purge(tx, other, states=[SUSPENDED]) == 1
        else:
            WAYS[way][0](repository, tx, other, task)
        kept = [ref(task, other)] if way == "replaced" else []
        assert repository.dependents(tx, ref(near)) == kept
    decide(backend, repository, topic, near)
    with backend.begin() as tx:
        left = repository.page(tx, other)
    expected = {"replaced": [TaskState.REDUNDANT, READY], "deleted": [READY]}
    assert [each.state for each in left] == expected.get(way, [])


@each_choice
def test_a_task_that_has_failed_already(
    backend: Backend, repository: Repository, topic: str, on_abort: OnAbort
) -> None:
    """It counts for a task that comes later as if it had failed then (S1-19)."""
    failed, near = push(backend, repository, topic, "failed", "near")
    decide(backend, repository, topic, failed, decision=FAILURE)
    task = push_after(backend, repository, topic, "task", failed, on_abort=on_abort)
    both = push_after(backend, repository, topic, "both", failed, near, on_abort=on_abort)
    assert state_of(backend, repository, topic, task) == [AFTERWARDS[on_abort]]
    assert state_of(backend, repository, topic, both) == [FAILED if on_abort is CASCADE else SUSPENDED]
    if on_abort is CASCADE:
        assert f"failed ({failed.sequence}) of topic 'topic'" in str(info(backend, repository, topic, task).output)
    elif on_abort is RUN:
        assert [polled.failed for polled in poll(backend, repository, topic, 9)] == [0, 1]


def test_linking_to_a_failed_task_fails(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that is made to wait for one that has failed fails with those who wait for it (S1-15, S1-19)."""
    failed, task = push(backend, repository, topic, "failed", "task")
    behind = push_after(backend, repository, topic, "behind", task)
    decide(backend, repository, topic, failed, decision=FAILURE)
    run(backend, repository.depend, link(task, failed))
    assert state_of(backend, repository, topic, task, behind) == [FAILED] * 2


def test_a_choice_made_without_links_counts_later(backend: Backend, repository: Repository, topic: str) -> None:
    """What a creation says of failures holds for links that are made afterwards (S1-15)."""
    [other] = push(backend, repository, topic, "other")
    tasks = [push(backend, repository, topic, on_abort.name, on_abort=on_abort)[0] for on_abort in OnAbort]
    for task in tasks:
        run(backend, repository.depend, link(task, other))
    decide(backend, repository, topic, other, decision=FAILURE)
    assert state_of(backend, repository, topic, *tasks) == list(AFTERWARDS.values())


def test_a_failure_without_words_names_the_task(backend: Backend, repository: Repository, topic: str) -> None:
    """There is no reason to add, and a long one is cut (S1-15)."""
    plain, wordy = push(backend, repository, topic, "plain", "wordy")
    one, two = (push_after(backend, repository, topic, "task", other) for other in (plain, wordy))
    decide(backend, repository, topic, plain, decision=FAILURE)
    decide(backend, repository, topic, wordy, decision=TaskDecision.failure("x" * 5_000))
    output = f"not run, because plain ({plain.sequence}) of topic 'topic' FAILED"
    assert info(backend, repository, topic, one).output == output
    assert str(info(backend, repository, topic, two).output).endswith(" FAILED: " + "x" * 200)


def test_a_wide_fan_fails_at_once(backend: Backend, repository: Repository, topic: str) -> None:
    """However many wait (S1-15)."""
    [other] = push(backend, repository, topic, "other")
    creations = [TaskCreation(str(number), after=(other,)) for number in range(1_000)]
    tasks = run(backend, repository.push_many, topic, creations)
    decide(backend, repository, topic, other, decision=FAILURE)
    assert state_of(backend, repository, topic, *tasks) == [FAILED] * 1_000
