"""Initialising topics, and what unknown ones do (section 12 of BEHAVIOURS.md)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from task_api import (
    TOPIC_LENGTH,
    Counting,
    Insertion,
    Junction,
    LostTaskError,
    Revivification,
    Task,
    TaskResult,
    TaskState,
    TaskStateError,
    UnknownTopicError,
)
from tests.backends import Backend
from tests.backends.steps import poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository, run


def test_initialise_tells_whether_the_topic_is_new(backend: Backend, repository: Repository) -> None:
    """True once, false when it is there, from any repository (TO-01)."""
    other = backend.repository("other")

    assert [run(backend, who.initialize, "new") for who in (repository, repository, other)] == [
        True,
        False,
        False,
    ]


def test_a_topic_works_in_the_transaction_that_made_it(backend: Backend, repository: Repository) -> None:
    """Initialising, pushing and polling in one transaction, and a rollback undoes all (TO-01, P7)."""
    tx = backend.open()
    for _ in range(2):
        assert repository.initialize(tx, "new") is True
        assert repository.poll(tx, "new") is None
        assert repository.push(tx, "new", "a") == repository.poll(tx, "new")
        backend.rollback(tx)

    assert repository.topics(tx) == set()


@pytest.mark.parametrize("insertion", Insertion, ids=lambda insertion: insertion.name)
def test_pushing_to_an_unknown_topic_names_it(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """The error says which topic and what to do; the transaction goes on (TO-02, IN-B5, IN-B6)."""
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError, match=r"'nowhere'.*initialize") as caught:
            repository.push(tx, "nowhere", "a", insertion=insertion)
        with pytest.raises(UnknownTopicError, match="'nowhere'"):
            repository.push_many(tx, "nowhere", [f"task-{n}" for n in range(2_000)], insertion=insertion)
        repository.push(tx, topic, "a")

    assert caught.value.topic == "nowhere"
    assert list(states(backend, repository, topic).values()) == [TaskState.READY]


def test_unknown_topics_are_empty(backend: Backend, repository: Repository, topic: str) -> None:
    """Polling, listing, looking up, junctions, purges and counts find nothing (TO-03)."""
    (task,) = push(backend, repository, topic, "a")

    with backend.begin() as tx:
        assert repository.poll(tx, "nowhere") is None
        assert repository.poll_many(tx, "nowhere", 10) == []
        assert repository.page(tx, "nowhere") == []
        assert repository.task(tx, "nowhere", task.sequence) is None
        assert repository.junction(tx, "nowhere", [{"a"}], junction=Junction.ETERNAL) == set()
        assert repository.promote(tx, "nowhere") == 0
        assert repository.next_due(tx, "nowhere") is None
        assert repository.purge(tx, "nowhere") == 0
        assert repository.count(tx, counting=Counting(topic="nowhere")) == {}
        assert repository.activation(tx, "nowhere") is None


def test_named_tasks_are_not_in_an_unknown_topic(backend: Backend, repository: Repository, topic: str) -> None:
    """Completing loses them, reassigning, reviving and ejecting is a state error (TO-03)."""
    push(backend, repository, topic, "a")
    (task,) = poll(backend, repository, topic)

    with backend.begin() as tx:
        with pytest.raises(LostTaskError):
            repository.complete(tx, "nowhere", task)
        with pytest.raises(LostTaskError):
            repository.release(tx, "nowhere", [task])
        with pytest.raises(TaskStateError):
            repository.reassign(tx, "nowhere", {task: TaskResult.SUCCESS})
        with pytest.raises(TaskStateError):
            repository.recreate(tx, "nowhere", Revivification.RESET, [task])
        with pytest.raises(TaskStateError):
            repository.eject(tx, "nowhere", Task(task.sequence, "a"))
        repository.complete(tx, topic, task)


def test_topics_are_exact_strings(backend: Backend, repository: Repository, topic: str) -> None:
    """Case, blanks and composed characters make another topic (TO-04)."""
    (task,) = push(backend, repository, topic, "a")
    others = {"Topic", "TOPIC", "topic ", " topic", "topic\n", "top\u0131c", "topi\u0063\u0327", "topi\u00e7"}

    for name in others:
        assert run(backend, repository.initialize, name) is True
        assert poll(backend, repository, name) == []
    assert run(backend, repository.topics) == {topic, *others}
    for name in others:
        assert run(backend, repository.destroy, name) is True
    assert poll(backend, repository, topic) == [task]


def test_a_strict_poll_refuses_unknown_topics(backend: Backend, repository: Repository, topic: str) -> None:
    """A misspelt topic is noticed when the consumer asks for it (TO-B1)."""
    with backend.begin() as tx:
        with pytest.raises(UnknownTopicError, match="'topci'"):
            repository.poll(tx, "topci", strict=True)
        with pytest.raises(UnknownTopicError, match="'topci'"):
            repository.poll_many(tx, "topci", 5, strict=True)
        assert repository.poll(tx, topic, strict=True) is None


def test_first_initialisation_by_many_at_once(backend: Backend, repository: Repository) -> None:
    """Exactly one made the topic, the others find it present (TO-B2)."""
    with ThreadPoolExecutor(8) as executor:
        futures = [executor.submit(run, backend, repository.initialize, "new") for _ in range(8)]
        made = [future.result(TIMEOUT) for future in futures]

    assert sorted(made) == [False] * 7 + [True]


def test_several_topics_in_each_of_two_transactions(backend: Backend, repository: Repository) -> None:
    """Whatever the order of their topics, two transactions do not lock each other out (TO-B2)."""
    names = [f"topic-{n}" for n in range(6)]

    def initialise(ordered: list[str]) -> int:
        with backend.begin() as tx:
            return sum(repository.initialize(tx, name) for name in ordered)

    with ThreadPoolExecutor(2) as executor:
        futures = [executor.submit(initialise, ordered) for ordered in (names, names[::-1])]
        made = [future.result(TIMEOUT) for future in futures]

    assert sum(made) == len(names)
    assert run(backend, repository.topics) == set(names)


def test_any_name_makes_a_topic(backend: Backend, repository: Repository) -> None:
    """Quotes, parameter markers, Unicode and 250 characters work, also as partitions (PA-08, TO-04)."""
    names = {
        'it\'s "quoted" `so`; DROP TABLE task; --',
        "100% :name %(name)s $1 ? {x} \\ \\x41",
        "snow \N{SNOWMAN} and \N{GRINNING FACE}",
        "\N{GRINNING FACE}" * TOPIC_LENGTH,
        "x" * TOPIC_LENGTH,
    }

    for name in names:
        assert run(backend, repository.initialize, name) is True
        (task,) = push(backend, repository, name, "a")
        assert poll(backend, repository, name) == [task]
    assert run(backend, repository.topics) == names
    for name in names:
        assert run(backend, repository.destroy, name) is True
        assert run(backend, repository.initialize, name) is True
