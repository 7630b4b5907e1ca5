"""Junctions release suspended tasks together (section 8 of BEHAVIOURS.md)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from task_api import Junction, TaskCreation, TaskDecision, TaskInfo, TaskState
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository, await_lock, one_of_each, run

every_kind = pytest.mark.parametrize("junction", Junction, ids=lambda junction: junction.name)


def by_identifier(backend: Backend, repository: Repository, topic: str) -> dict[str, list[TaskState]]:
    """The states of every identifier's tasks, oldest first."""
    found: dict[str, list[TaskState]] = {}
    for task in run(backend, repository.page, topic, size=1_000):
        found.setdefault(task.identifier, []).append(task.state)
    return found


READY, SUSPENDED = [TaskState.READY], [TaskState.SUSPENDED]


@every_kind
def test_complete_groups_are_released_and_others_wait(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """Each group is judged on its own (JU-01, JU-02, JU-04, JU-05)."""
    push(backend, repository, topic, *"abcde", suspended=True)

    released = run(backend, repository.junction, topic, [{"a", "b"}, {"c", "missing"}, {"d"}], junction=junction)

    assert released == {"a", "b", "d"}
    assert by_identifier(backend, repository, topic) == {
        "a": READY,
        "b": READY,
        "c": SUSPENDED,
        "d": READY,
        "e": SUSPENDED,
    }


def test_one_group_tells_whether_anything_was_released(backend: Backend, repository: Repository, topic: str) -> None:
    """The result for a single group is empty until it is complete, and again afterwards (JU-05)."""
    push(backend, repository, topic, "a", suspended=True)
    early = run(backend, repository.junction, topic, [["a", "b"]])
    push(backend, repository, topic, "b", suspended=True)

    assert [early, *(run(backend, repository.junction, topic, [["a", "b"]]) for _ in range(2))] == [
        set(),
        {"a", "b"},
        set(),
    ]


@every_kind
def test_every_suspended_task_of_the_group_is_released(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """Also several of one identifier: distinct identifiers are counted, not rows (JU-02, JU-B2)."""
    push(backend, repository, topic, "a", "a", "b", suspended=True)

    released = run(backend, repository.junction, topic, [{"a", "b"}], junction=junction)

    assert released == {"a", "b"}
    assert by_identifier(backend, repository, topic) == {"a": READY * 2, "b": READY}


@every_kind
def test_two_tasks_do_not_stand_in_for_two_identifiers(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """A second task of one identifier is not the missing other one (JU-B2)."""
    push(backend, repository, topic, "a", "a", suspended=True)

    assert run(backend, repository.junction, topic, [{"a", "b"}], junction=junction) == set()
    assert by_identifier(backend, repository, topic) == {"a": SUSPENDED * 2}


@every_kind
def test_which_states_complete_a_group(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """SINGULAR wants SUSPENDED, ETERNAL all but REDUNDANT; the released are told (JU-02, JU-03, JU-B3)."""
    others = one_of_each(backend, repository, topic)
    # The tasks behind RECREATED and REDUNDANT would count too.
    run(backend, repository.purge, topic, states={TaskState.READY}, first=others[TaskState.READY].sequence + 1)
    waiting = dict(zip(others, push(backend, repository, topic, *map(str, others), suspended=True), strict=True))

    groups = [{state.name, str(state)} for state in others]
    released = run(backend, repository.junction, topic, groups, junction=junction)

    completing = {TaskState.SUSPENDED}
    if junction is Junction.ETERNAL:
        completing = set(TaskState) - {TaskState.REDUNDANT}
    assert released == {*map(str, completing), "SUSPENDED"}
    expected = {task.sequence: state for state, task in others.items()}
    expected |= dict.fromkeys((task.sequence for task in waiting.values()), TaskState.SUSPENDED)
    expected |= dict.fromkeys((waiting[state].sequence for state in completing), TaskState.READY)
    expected[others[TaskState.SUSPENDED].sequence] = TaskState.READY
    assert states(backend, repository, topic) == expected


@every_kind
def test_no_groups_release_nothing(backend: Backend, repository: Repository, topic: str, junction: Junction) -> None:
    """No groups and empty groups are no work (JU-06)."""
    push(backend, repository, topic, "a", suspended=True)
    nothing: list[list[set[str]]] = [[], [set()], [set(), set()]]

    with backend.begin() as tx:
        assert [repository.junction(tx, topic, groups, junction=junction) for groups in nothing] == [set()] * 3
    assert by_identifier(backend, repository, topic) == {"a": SUSPENDED}


@every_kind
def test_groups_come_in_any_shape(backend: Backend, repository: Repository, topic: str, junction: Junction) -> None:
    """Empty groups among others are skipped, repetitions count once, an iterator will do (JU-06, JU-07)."""
    push(backend, repository, topic, *"abc", suspended=True)
    groups = iter([[], ("a", "b", "a"), [], frozenset("c"), ["c"]])

    assert run(backend, repository.junction, topic, groups, junction=junction) == {"a", "b", "c"}


@every_kind
def test_groups_that_share_an_identifier_are_judged_on_one_state(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """Of {a, b}, {a, c} and {a, missing} the first two are complete, whatever their order (JU-07, JU-B5)."""
    push(backend, repository, topic, *"abc", suspended=True)

    released = run(backend, repository.junction, topic, [{"a", "b"}, {"a", "x"}, {"a", "c"}], junction=junction)

    assert released == {"a", "b", "c"}
    assert by_identifier(backend, repository, topic) == dict.fromkeys("abc", READY)


@every_kind
def test_release_keeps_the_record(backend: Backend, repository: Repository, topic: str, junction: Junction) -> None:
    """Descent, owner, output and completion stay; an old due time goes (JU-08)."""
    (task,) = push(backend, repository, topic, "a")
    aside = TaskDecision.suspension("wait for b", timedelta(hours=1))
    complete(backend, repository, topic, poll(backend, repository, topic), aside)
    before = info(backend, repository, topic, task)

    run(backend, repository.junction, topic, [{"a"}], junction=junction)

    after = info(backend, repository, topic, task)
    assert record(after) == record(before)
    assert (after.state, after.output, after.owner, after.due) == (TaskState.READY, "wait for b", "me", None)


def record(task: TaskInfo) -> tuple[object, ...]:
    """What a release leaves alone."""
    return task.descent, task.owner, task.output, task.completed, task.attempt, task.input


def test_a_complete_group_without_suspended_tasks_is_silent(
    backend: Backend, repository: Repository, topic: str
) -> None:
    """It releases nothing and reports nothing (JU-09)."""
    push(backend, repository, topic, "a", "b")

    assert run(backend, repository.junction, topic, [{"a", "b"}], junction=Junction.ETERNAL) == set()
    assert by_identifier(backend, repository, topic) == {"a": READY, "b": READY}


@pytest.mark.kinds("driver", "plain")
@every_kind
def test_a_large_group_is_never_split(backend: Backend, repository: Repository, topic: str, junction: Junction) -> None:
    """Groups larger than any bulk are judged as a whole (JU-10)."""
    whole, part = ([f"{name}-{n}" for n in range(1_501)] for name in ("whole", "part"))
    push(backend, repository, topic, *whole, *part[:-1], suspended=True)

    assert run(backend, repository.junction, topic, [part, whole], junction=junction) == set(whole)


@every_kind
def test_other_topics_do_not_count(backend: Backend, repository: Repository, topic: str, junction: Junction) -> None:
    """Existence is judged inside the topic, and nothing outside is released (JU-B1)."""
    run(backend, repository.initialize, "other")
    push(backend, repository, "other", "a", "b", suspended=True)
    push(backend, repository, topic, "a", suspended=True)

    assert run(backend, repository.junction, topic, [{"a", "b"}], junction=junction) == set()
    assert run(backend, repository.junction, "other", [{"a", "b"}], junction=junction) == {"a", "b"}
    assert by_identifier(backend, repository, topic) == {"a": SUSPENDED}


@every_kind
def test_an_unknown_topic_releases_nothing(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """It is empty, not an error (TO-03)."""
    push(backend, repository, topic, "a", suspended=True)

    assert run(backend, repository.junction, "unknown", [{"a"}], junction=junction) == set()


def test_a_rollback_undoes_a_release(backend: Backend, repository: Repository, topic: str) -> None:
    """The caller owns the transaction (JU-02, P7)."""
    push(backend, repository, topic, "a", suspended=True)

    tx = backend.open()
    repository.junction(tx, topic, [{"a"}])
    backend.close(tx)

    assert by_identifier(backend, repository, topic) == {"a": SUSPENDED}


@pytest.mark.backends("postgresql", "oracle")
@pytest.mark.parametrize("by", ["push", "complete"])
@every_kind
def test_two_halves_that_come_at_once_are_released_once(
    backend: Backend, repository: Repository, topic: str, junction: Junction, by: str
) -> None:
    """The later junction waits for the earlier transaction and then sees its half (JU-B4, P6)."""
    early, late = backend.open(), backend.open()
    if by == "push":
        for tx, identifier in ((early, "a"), (late, "b")):
            repository.push(tx, topic, TaskCreation(identifier, suspended=True))
    else:
        push(backend, repository, topic, "a", "b")
        for tx, task in zip((early, late), poll(backend, repository, topic, 2), strict=True):
            repository.complete(tx, topic, task, TaskDecision.SUSPENSION)

    seen_early = repository.junction(early, topic, [{"a", "b"}], junction=junction)
    with ThreadPoolExecutor() as executor:
        seen_late = executor.submit(repository.junction, late, topic, [{"a", "b"}], junction=junction)
        await_lock(backend, seen_late)
        backend.commit(early)
        released = [seen_early, seen_late.result(TIMEOUT)]
    backend.commit(late)

    # For ETERNAL a task that is still ACTIVE elsewhere counts, so that each junction releases its own half.
    each_its_own = (by, junction) == ("complete", Junction.ETERNAL)
    assert released == ([{"a"}, {"b"}] if each_its_own else [set(), {"a", "b"}])
    assert by_identifier(backend, repository, topic) == {"a": READY, "b": READY}
