"""What can't be a dependency is refused with a word on what to do, before anything is sent."""

from datetime import timedelta
from typing import Any

import pytest

from task_api import MAX_SEQUENCE, Dependency, InvalidTaskError, OnAbort, Task, TaskCreation, TaskRef
from tests.backends import Backend
from tests.backends.steps import push, states
from tests.conformance.scenes import Repository
from tests.conformance.waiters import ref

few = pytest.mark.kinds("driver", "plain")
NO_NAMES = [
    None,
    7,
    "task",
    ("topic", 1),
    Task(1, "a task has no topic"),
    TaskRef("", 1),
    TaskRef("x" * 251, 1),
    TaskRef("topic", -1),
    TaskRef("topic", MAX_SEQUENCE + 1),
    TaskRef("topic", sequence=True),
    TaskRef("topic", "1"),  # type: ignore[arg-type]
    TaskRef(None, 1),  # type: ignore[arg-type]
]
each_wrong_name = pytest.mark.parametrize("wrong", NO_NAMES, ids=repr)


@pytest.mark.parametrize("wrong", ["task", "", 7, 0, 7.5, None, [None], ["task"], [7], ([],), [("topic", 1)]], ids=repr)
def test_what_a_creation_does_not_wait_for(wrong: Any) -> None:  # noqa: ANN401 - anything
    """It waits for tasks, in an iterable."""
    with pytest.raises(InvalidTaskError, match="after must be"):
        TaskCreation("task", after=wrong)
    with pytest.raises(InvalidTaskError, match="after must be"):
        TaskCreation("task").with_after(wrong if not isinstance(wrong, list) else wrong[0])


@pytest.mark.parametrize("wrong", [None, 0, "CASCADE", OnAbort], ids=repr)
def test_what_a_creation_does_not_do_on_failures(wrong: Any) -> None:  # noqa: ANN401 - anything
    """There are three choices."""
    with pytest.raises(InvalidTaskError, match="on_abort must be an OnAbort"):
        TaskCreation("task", on_abort=wrong)


def test_what_a_creation_waits_for_is_kept() -> None:
    """In any iterable, stored as a tuple; it does not count for equality, and copies keep the choice."""
    one, two = Task(1, "one"), TaskRef("topic", 2)
    creation = TaskCreation("task", after=[one, two], on_abort=OnAbort.RUN)  # type: ignore[arg-type]
    assert creation.after == (one, two)
    assert creation == TaskCreation("task")
    assert creation.with_input("x").after == (one, two)
    again = creation.with_after(two)
    assert (again.after, again.on_abort) == ((two,), OnAbort.RUN)
    assert creation.with_after(on_abort=OnAbort.WAIT) == TaskCreation("task")


def test_names_are_values() -> None:
    """They compare, sort and hash by topic and number, and print as both."""
    assert TaskRef("a", 2) == TaskRef("a", 2)
    assert {TaskRef("a", 2), TaskRef("a", 2), TaskRef("b", 2)} == {TaskRef("b", 2), TaskRef("a", 2)}
    assert min([TaskRef("b", 1), TaskRef("a", 10), TaskRef("a", 9)]) == TaskRef("a", 9)
    assert str(TaskRef("a", 2)) == "a 2"


@few
@each_wrong_name
def test_wrong_names_are_refused(backend: Backend, repository: Repository, topic: str, wrong: Any) -> None:  # noqa: ANN401
    """By every call that takes one, with nothing done (P7)."""
    [task] = push(backend, repository, topic, "task")
    before = states(backend, repository, topic)
    with backend.begin() as tx:
        for links in ([Dependency(wrong, ref(task))], [Dependency(ref(task), wrong)]):
            with pytest.raises(InvalidTaskError):
                repository.depend(tx, links)
        for call in (repository.predecessors, repository.dependents):
            with pytest.raises(InvalidTaskError):
                call(tx, wrong)
        assert repository.predecessors(tx, ref(task)) == []
    with pytest.raises(InvalidTaskError):
        repository.wait(backend.begin, wrong, timedelta(0))
    assert states(backend, repository, topic) == before


@few
@pytest.mark.parametrize("wrong", NO_NAMES[5:], ids=repr)
def test_wrong_names_of_a_push_leave_nothing(
    backend: Backend,
    repository: Repository,
    topic: str,
    wrong: Any,  # noqa: ANN401 - anything
) -> None:
    """A wrong name is found before the task is stored (P7)."""
    with backend.begin() as tx:
        with pytest.raises(InvalidTaskError):
            repository.push(tx, topic, TaskCreation("task", after=(wrong,)))
        assert repository.page(tx, topic) == []


@few
@pytest.mark.parametrize("wrong", [None, 7, "links", [None], [("a", "b")], [TaskRef("topic", 1)]], ids=repr)
def test_wrong_dependencies_are_refused(
    backend: Backend,
    repository: Repository,
    topic: str,
    wrong: Any,  # noqa: ANN401 - anything
) -> None:
    """They are Dependency objects in an iterable, and one alone is none (P7)."""
    [one, two] = push(backend, repository, topic, "one", "two")
    with backend.begin() as tx:
        alone: Any = Dependency(ref(one), ref(two))
        for each in (wrong, alone):
            with pytest.raises(InvalidTaskError, match="Dependency"):
                repository.depend(tx, each)


@few
@pytest.mark.parametrize("wrong", [7, "1", timedelta(seconds=-1)], ids=repr)
def test_wrong_timeouts_are_refused(
    backend: Backend,
    repository: Repository,
    topic: str,
    wrong: Any,  # noqa: ANN401 - anything
) -> None:
    """A wait takes a timedelta, or None."""
    [task] = push(backend, repository, topic, "task")
    with pytest.raises(InvalidTaskError, match="timeout"):
        repository.wait(backend.begin, ref(task), wrong)
