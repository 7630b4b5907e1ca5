"""How SQLite finds READY tasks by their identifiers, which it enters in an index only when somebody looks for them."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from task_api import (
    Condition,
    Dependency,
    Insertion,
    Junction,
    Revivification,
    TaskCreation,
    TaskDecision,
    TaskRef,
    TaskRepository,
    TaskResult,
    UnknownTopicError,
)
from task_sql.sqlite.listed import in_listed
from tests.backends.steps import complete, poll, push, states
from tests.conformance.scenes import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.backends import Backend

pytestmark = [pytest.mark.backends("sqlite"), pytest.mark.kinds("driver")]
Repository: TypeAlias = TaskRepository[Any]
SINGULAR: Any = {"condition": Condition.SINGULAR_BY_IDENTIFIER}
AT_ONCE = timedelta(milliseconds=-1)


def listed(backend: Backend) -> set[str]:
    """The READY tasks that are found by their identifiers."""
    found = backend.sql(f"SELECT identifier FROM task INDEXED BY task_listed WHERE {in_listed()}")  # noqa: S608 - ours
    return {identifier for (identifier,) in found}


def test_a_push_does_not_list_its_task(backend: Backend, repository: Repository, topic: str) -> None:
    """Nor does a poll that does not ask for identifiers: most tasks are never looked for by theirs (DESIGN 4)."""
    push(backend, repository, topic, "a", "b", "c")
    assert listed(backend) == set()
    poll(backend, repository, topic)
    assert listed(backend) == set()


def look_singular(backend: Backend, repository: Repository, topic: str) -> None:
    """Poll one task of an identifier."""
    poll(backend, repository, topic, **SINGULAR)


def look_to_replace(backend: Backend, repository: Repository, topic: str) -> None:
    """Push a task in the place of another."""
    push(backend, repository, topic, "other", insertion=Insertion.SUPERSEDE)


def look_to_join(backend: Backend, repository: Repository, topic: str) -> None:
    """Release nobody."""
    run(backend, repository.junction, topic, [["nobody"]], junction=Junction.ETERNAL)


def look_between(backend: Backend, repository: Repository, topic: str) -> None:
    """Poll the first of a range of identifiers."""
    run(backend, repository.poll_between, topic, "x", "y")


LOOKS = [look_singular, look_to_replace, look_to_join, look_between]


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_for_identifiers_lists_all(
    backend: Backend, repository: Repository, topic: str, look: Callable[[Backend, Repository, str], None]
) -> None:
    """Those of this topic, that is, and from then on each that is pushed, in whatever way (P4, P5)."""
    run(backend, repository.initialize, "elsewhere")
    push(backend, repository, "elsewhere", "e")
    push(backend, repository, topic, "first", "a", "b")
    look(backend, repository, topic)
    assert {"a", "b"} <= listed(backend)
    run(backend, repository.push, topic, "c")
    run(backend, repository.push, topic, TaskCreation("d", reference="reference"))
    push(backend, repository, topic, *"fgh")
    push(backend, repository, topic, *"ij", reference="reference")
    with backend.begin() as tx:
        repository.push_many(tx, topic, ["k", TaskCreation("l", due=AT_ONCE)])
        repository.push_many(tx, topic, {"m": "input"})
    assert set("cdfghijkm") <= listed(backend)
    assert "e" not in listed(backend)


def test_a_topic_that_comes_again_was_never_looked_into(backend: Backend, repository: Repository, topic: str) -> None:
    """It begins anew with all that is known of it (PU-07)."""
    look_singular(backend, repository, topic)
    run(backend, repository.destroy, topic)
    run(backend, repository.initialize, topic)
    push(backend, repository, topic, "a")
    assert listed(backend) == set()


def test_a_look_that_is_rolled_back_was_none(backend: Backend, repository: Repository, topic: str) -> None:
    """What it listed is not, and the next one lists it (P7)."""
    push(backend, repository, topic, "a")
    tx = backend.open()
    repository.poll(tx, topic, **SINGULAR)
    repository.push(tx, topic, "b")
    backend.rollback(tx)
    push(backend, repository, topic, "c")
    assert listed(backend) == set()
    look_to_join(backend, repository, topic)
    assert listed(backend) == {"a", "c"}


def test_a_row_that_is_inserted_by_hand_is_listed(backend: Backend, repository: Repository, topic: str) -> None:
    """Whoever it comes from knows nothing of lists (P5)."""
    look_singular(backend, repository, topic)
    backend.sql("INSERT INTO task (topic, identifier) VALUES ('topic', 'a')")
    [newest] = push(backend, repository, topic, "a", insertion=Insertion.SUPERSEDE)
    assert poll(backend, repository, topic, 9) == [newest]


def test_a_range_is_read_whole_without_being_listed(backend: Backend, repository: Repository, topic: str) -> None:
    """To look at tasks needs no right to write (S3-06)."""
    push(backend, repository, topic, "a", "b", "d")
    push(backend, repository, topic, "aa", suspended=True)
    for _ in range(2):
        poll(backend, repository, topic)
        push(backend, repository, topic, "c")
    for _ in range(2):
        found = run(backend, repository.between, topic, "a", "d")
        assert [task.identifier for task in found] == ["a", "aa", "b", "c", "c"]
        look_to_join(backend, repository, topic)


def test_a_range_is_not_read_in_vain(backend: Backend, repository: Repository, topic: str) -> None:
    """Where all are listed, READY tasks beyond the range cost nothing (DESIGN 4)."""
    push(backend, repository, topic, *map(str, range(20_000)))
    look_to_join(backend, repository, topic)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with closing(backend.connect()) as tx:
        tx.set_progress_handler(count, 100)
        repository.between(tx, topic, "x", "y")
    assert steps < 20


def list_all(backend: Backend, repository: Repository, topic: str) -> None:
    """Have it noted that somebody has looked."""
    look_to_join(backend, repository, topic)
    assert backend.sql("SELECT looked FROM task_topic") == [(1,)]


def released(backend: Backend, repository: Repository, topic: str) -> None:
    """A claimed task that is given back."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic)
    list_all(backend, repository, topic)
    run(backend, repository.release, topic, [task])


def reset(backend: Backend, repository: Repository, topic: str) -> None:
    """A failed task that is brought back."""
    push(backend, repository, topic, "a")
    [task] = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.FAILURE)
    list_all(backend, repository, topic)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])


def promoted(backend: Backend, repository: Repository, topic: str) -> None:
    """A task whose time has come."""
    run(backend, repository.push, topic, TaskCreation("a", due=AT_ONCE))
    list_all(backend, repository, topic)
    run(backend, repository.promote, topic)


def promoted_among_others(backend: Backend, repository: Repository, topic: str) -> None:
    """The same, where it was pushed with others."""
    push(backend, repository, topic, "a", "b", due=AT_ONCE)
    list_all(backend, repository, topic)
    run(backend, repository.promote, topic)


def joined(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that waited for a junction."""
    run(backend, repository.push, topic, TaskCreation("a", suspended=True))
    list_all(backend, repository, topic)
    run(backend, repository.junction, topic, [["a"]])


def joined_with_others(backend: Backend, repository: Repository, topic: str) -> None:
    """Tasks that waited for a junction, and were pushed together."""
    push(backend, repository, topic, "a", "b", suspended=True)
    list_all(backend, repository, topic)
    run(backend, repository.junction, topic, [["a", "b"]])


def followed(backend: Backend, repository: Repository, topic: str) -> None:
    """A task that waited for another since its push."""
    push(backend, repository, topic, "before")
    [before] = poll(backend, repository, topic)
    push(backend, repository, topic, "a", after=(before,))
    list_all(backend, repository, topic)
    complete(backend, repository, topic, before)


def tied(backend: Backend, repository: Repository, topic: str) -> None:
    """A READY task that was told to wait for another."""
    push(backend, repository, topic, "before")
    [before] = poll(backend, repository, topic)
    [task] = push(backend, repository, topic, "a")
    link = Dependency(TaskRef(topic, task.sequence), TaskRef(topic, before.sequence))
    run(backend, repository.depend, [link])
    list_all(backend, repository, topic)
    complete(backend, repository, topic, before)


def reassigned(backend: Backend, repository: Repository, topic: str) -> None:
    """A suspended task that was declared failed, and brought back, without a claim ever."""
    [task] = push(backend, repository, topic, "a", suspended=True)
    run(backend, repository.reassign, topic, {task: TaskResult.FAILURE})
    list_all(backend, repository, topic)
    run(backend, repository.recreate, topic, Revivification.RESET, [task])


def recreated_to_wait(backend: Backend, repository: Repository, topic: str) -> None:
    """A new task for one that waited for another, which waits in its place."""
    push(backend, repository, topic, "before")
    [before] = poll(backend, repository, topic)
    [task] = push(backend, repository, topic, "a", after=(before,))
    run(backend, repository.recreate, topic, Revivification.APPEND, [task])
    list_all(backend, repository, topic)
    complete(backend, repository, topic, before)


WAYS = [
    released,
    reset,
    promoted,
    promoted_among_others,
    joined,
    joined_with_others,
    followed,
    tied,
    reassigned,
    recreated_to_wait,
]


@pytest.mark.parametrize("come_back", WAYS)
def test_no_way_back_to_ready_hides_a_task(
    backend: Backend, repository: Repository, topic: str, come_back: Callable[[Backend, Repository, str], None]
) -> None:
    """It blocks its siblings, and gives way to the one that replaces it, like any other (P4, P5)."""
    come_back(backend, repository, topic)
    assert "a" in listed(backend)
    push(backend, repository, topic, "a")
    assert [task.identifier for task in poll(backend, repository, topic, 5, **SINGULAR)].count("a") == 1
    [newest] = push(backend, repository, topic, "a", insertion=Insertion.SUPERSEDE)
    found = backend.sql("SELECT sequence FROM task WHERE identifier = 'a' AND state = 1")
    assert found == [(newest.sequence,)]


@pytest.mark.parametrize("number", [1, 3])
def test_numbers_of_deleted_tasks_are_not_given_again(
    backend: Backend, repository: Repository, topic: str, number: int
) -> None:
    """Also that of the last task, whoever deletes it; a rollback brings it back with the task (ST-12)."""
    tasks = push(backend, repository, topic, *("a" * number))
    last = tasks[-1].sequence
    tx = backend.open()
    repository.purge_all(tx, topic)
    backend.rollback(tx)
    assert len(states(backend, repository, topic)) == len(tasks)
    run(backend, repository.purge_all, topic)
    assert push(backend, repository, topic, "b")[0].sequence == last + 1
    backend.sql("DELETE FROM task")
    assert run(backend, repository.push, topic, "c").sequence == last + 2
    many = push(backend, repository, topic, "d", "d", insertion=Insertion.DELETE)
    assert [task.sequence for task in many] == [last + 3]
    assert push(backend, repository, topic, "d", insertion=Insertion.DELETE)[0].sequence == last + 4
    assert [task.sequence for task in push(backend, repository, topic, *"ef")] == [last + 5, last + 6]


def passed_over(backend: Backend) -> list[tuple[str, int | None]]:
    """What each topic knows of numbers that must not be given again."""
    return backend.sql("SELECT topic, last FROM task_topic ORDER BY topic")


def test_numbers_are_passed_over_once(backend: Backend, repository: Repository, topic: str) -> None:
    """The push after them remembers that for all topics, also for one that was made meanwhile (ST-12)."""
    [first] = push(backend, repository, topic, "a")
    assert passed_over(backend) == [(topic, None)]
    run(backend, repository.purge_all, topic)
    run(backend, repository.initialize, "zoo")
    assert passed_over(backend) == [(topic, first.sequence), ("zoo", first.sequence)]
    with pytest.raises(UnknownTopicError):
        run(backend, repository.push, "unknown", "b")
    assert run(backend, repository.push, "zoo", "b").sequence == first.sequence + 1
    assert passed_over(backend) == [(topic, None), ("zoo", None)]
    run(backend, repository.initialize, "zulu")
    assert passed_over(backend)[-1] == ("zulu", None)
    assert run(backend, repository.push, topic, "c").sequence == first.sequence + 2


def test_a_topic_that_comes_again_gives_no_number_again(backend: Backend, repository: Repository, topic: str) -> None:
    """Although nothing is left of it, nor of any other (ST-12)."""
    [first] = push(backend, repository, topic, "a")
    run(backend, repository.purge_all, topic)
    run(backend, repository.destroy, topic)
    run(backend, repository.initialize, topic)
    assert run(backend, repository.push, topic, "a").sequence == first.sequence + 1
