"""Insertion modes: section 2 of the behaviours."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from operator import attrgetter
from typing import Any

import pytest

from task_api import (
    Insertion,
    InvalidTaskError,
    Task,
    TaskCreation,
    TaskDecision,
    TaskState,
    UnknownTopicError,
)
from tests.backends import Backend, Transaction
from tests.backends.steps import complete, info, poll, push, states
from tests.conformance.scenes import TIMEOUT, Repository, await_lock, one_of_each, run

ACTIVE, READY, EXPIRED, FAILED, SUSPENDED, FILTERED, SUCCEEDED, RECREATED, REDUNDANT = TaskState
KEPT = {state: state for state in TaskState}
REMOVED: dict[TaskState, TaskState | None] = dict.fromkeys(TaskState)

EFFECTS: dict[Insertion, dict[TaskState, TaskState | None]] = {
    Insertion.APPEND: {**KEPT},
    Insertion.SUPERSEDE: {**KEPT, READY: REDUNDANT},
    Insertion.REPLACE: {**KEPT, **dict.fromkeys(TaskState, REDUNDANT), ACTIVE: ACTIVE, RECREATED: RECREATED},
    Insertion.DELETE: {**REMOVED, ACTIVE: ACTIVE},
}
MODES = list(EFFECTS)
EVERY_MODE = pytest.mark.parametrize("insertion", MODES, ids=attrgetter("name"))
EVERY_EXCLUSIVE_MODE = pytest.mark.parametrize("insertion", MODES[1:], ids=attrgetter("name"))


@pytest.mark.kinds("driver", "plain")
@pytest.mark.parametrize("suspended", [False, True], ids=["ready", "suspended"])
@EVERY_MODE
def test_effect_on_older_tasks(
    *, backend: Backend, repository: Repository, topic: str, insertion: Insertion, suspended: bool
) -> None:
    """Each mode keeps, obsoletes or removes an older task by its state (IN-01, IN-09, ST-05)."""
    tasks = one_of_each(backend, repository, topic)
    names = [state.name for state in TaskState]
    push(backend, repository, topic, *names, insertion=insertion, suspended=suspended)

    after = states(backend, repository, topic)
    assert {state: after.get(task.sequence) for state, task in tasks.items()} == EFFECTS[insertion]


@EVERY_MODE
def test_an_active_task_is_completed_beside_its_successor(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """An ACTIVE older task survives every mode and is decided as usual (IN-02)."""
    push(backend, repository, topic, "a")
    [old] = poll(backend, repository, topic)
    [new] = push(backend, repository, topic, "a", insertion=insertion)
    complete(backend, repository, topic, old)

    assert states(backend, repository, topic) == {old.sequence: SUCCEEDED, new.sequence: READY}


@EVERY_MODE
def test_other_identifiers_and_topics_are_left_alone(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """A push touches tasks of its own topic and identifier only, exactly spelt (IN-03)."""
    run(backend, repository.initialize, "other")
    [elsewhere] = push(backend, repository, "other", "a")
    others = push(backend, repository, topic, "b", "A", "a ", "%")
    [new] = push(backend, repository, topic, "a", insertion=insertion)

    assert states(backend, repository, "other") == {elsewhere.sequence: READY}
    assert states(backend, repository, topic) == dict.fromkeys((it.sequence for it in [*others, new]), READY)


@pytest.mark.parametrize(
    ("insertion", "expected"),
    [
        (Insertion.APPEND, [("a", READY), ("b", READY), ("a", READY), ("a", READY)]),
        (Insertion.SUPERSEDE, [("a", REDUNDANT), ("b", READY), ("a", REDUNDANT), ("a", READY)]),
        (Insertion.REPLACE, [("a", REDUNDANT), ("b", READY), ("a", REDUNDANT), ("a", READY)]),
        (Insertion.DELETE, [("b", READY), ("a", READY)]),
    ],
    ids=["append", "supersede", "replace", "delete"],
)
def test_duplicates_in_a_batch(
    backend: Backend,
    repository: Repository,
    topic: str,
    insertion: Insertion,
    expected: list[tuple[str, TaskState]],
) -> None:
    """All are appended, or the last survives the others (IN-04, IN-05, IN-06)."""
    tasks = push(backend, repository, topic, "a", "b", "a", "a", insertion=insertion)

    stored = [info(backend, repository, topic, task) for task in tasks]
    assert [(it.identifier, it.state) for it in stored] == expected
    assert [it.descent for it in stored] == [READY] * len(expected)
    assert states(backend, repository, topic).keys() == {task.sequence for task in tasks}


@EVERY_EXCLUSIVE_MODE
def test_the_surviving_duplicate_is_the_one_given_last(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """Input and reference of the last creation count (IN-05, IN-06)."""
    creations = [TaskCreation("a", text, text) for text in ("first", "last")]
    tasks = run(backend, repository.push_many, topic, creations, insertion=insertion)
    survivor = info(backend, repository, topic, tasks[-1])

    assert (survivor.state, survivor.input, survivor.reference) == (READY, "last", "last")


@EVERY_MODE
def test_a_suspended_creation_starts_suspended(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """It is SUSPENDED with descent READY, without owner or completion time (IN-07)."""
    [task] = push(backend, repository, topic, "a", suspended=True, insertion=insertion)
    stored = info(backend, repository, topic, task)

    assert (stored.state, stored.descent, stored.owner, stored.completed, stored.due) == (
        SUSPENDED,
        READY,
        None,
        None,
        None,
    )


@pytest.mark.parametrize("insertion", [Insertion.SUPERSEDE, Insertion.REPLACE], ids=attrgetter("name"))
@pytest.mark.parametrize(
    ("flags", "expected"),
    [((True, False), [REDUNDANT, READY]), ((False, True), [REDUNDANT, SUSPENDED])],
    ids=["first suspended", "last suspended"],
)
def test_suspension_matters_for_the_surviving_duplicate(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    insertion: Insertion,
    flags: tuple[bool, bool],
    expected: list[TaskState],
) -> None:
    """An earlier duplicate is REDUNDANT, suspended or not (IN-05, IN-08)."""
    creations = [TaskCreation("a", suspended=flag) for flag in flags]
    tasks = run(backend, repository.push_many, topic, creations, insertion=insertion)

    stored = states(backend, repository, topic)
    assert [stored[task.sequence] for task in tasks] == expected


@pytest.mark.parametrize(("insertion", "expected"), [(Insertion.REPLACE, REDUNDANT), (Insertion.SUPERSEDE, SUSPENDED)])
def test_a_suspended_creation_applies_its_mode(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion, expected: TaskState
) -> None:
    """Suspended REPLACE obsoletes an older SUSPENDED task, SUPERSEDE leaves it alone (IN-09)."""
    [old] = push(backend, repository, topic, "a", suspended=True)
    [new] = push(backend, repository, topic, "a", suspended=True, insertion=insertion)

    assert states(backend, repository, topic) == {old.sequence: expected, new.sequence: SUSPENDED}


@EVERY_MODE
def test_the_result_keeps_the_order_of_the_creations(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """Each creation gets its own row, in order, with rising sequences (IN-10, IN-16, IN-B4)."""
    numbers = [str(number * 7919 % 1000) for number in range(1000)]
    creations = [TaskCreation(number, f"input of {number}") for number in numbers]
    tasks = run(backend, repository.push_many, topic, creations, insertion=insertion)

    returned = [(it.sequence, it.identifier, it.input) for it in tasks]
    assert [(identifier, text) for _, identifier, text in returned] == [(it, f"input of {it}") for it in numbers]
    assert [sequence for sequence, *_ in returned] == sorted({task.sequence for task in tasks})
    assert backend.sql("SELECT sequence, identifier, input FROM task ORDER BY sequence") == returned


@pytest.mark.parametrize("name", ["topic", "unknown"])
def test_an_empty_batch_touches_nothing(backend: Backend, repository: Repository, topic: str, name: str) -> None:
    """It gives an empty list, for an unknown topic too (IN-11)."""
    [task] = push(backend, repository, topic, "a")
    for insertion in MODES:
        empty: list[Iterable[str]] = [[], iter([]), {}]
        results = [run(backend, repository.push_many, name, it, insertion=insertion) for it in empty]
        assert results == [[], [], []]

    assert states(backend, repository, topic) == {task.sequence: READY}


def test_blank_input_and_reference_are_absent(backend: Backend, repository: Repository, topic: str) -> None:
    """Missing, empty and blank are the same: stored as absent (IN-12)."""
    blanks = [None, "", " ", "\t\r\n"]
    creations = [TaskCreation("a", blank, blank) for blank in blanks]
    tasks = run(backend, repository.push_many, topic, creations)
    tasks += run(backend, repository.push_many, topic, dict(zip("abcd", blanks, strict=True)))

    assert [task.input for task in tasks] == [None] * 8
    assert backend.sql("SELECT input, reference FROM task") == [(None, None)] * 8


FORMS: dict[str, Callable[[Transaction, Repository, str], list[Task]]] = {
    "identifier": lambda tx, repository, topic: [repository.push(tx, topic, it) for it in ("a", "b")],
    "creation": lambda tx, repository, topic: [repository.push(tx, topic, TaskCreation(it)) for it in ("a", "b")],
    "identifiers": lambda tx, repository, topic: repository.push_many(tx, topic, ["a", "b"]),
    "creations": lambda tx, repository, topic: repository.push_many(tx, topic, [TaskCreation("a"), TaskCreation("b")]),
    "mixture": lambda tx, repository, topic: repository.push_many(tx, topic, ("a", TaskCreation("b"))),
    "iterator": lambda tx, repository, topic: repository.push_many(tx, topic, iter(["a", "b"])),
    "mapping": lambda tx, repository, topic: repository.push_many(tx, topic, {"a": None, "b": None}),
}


def test_all_forms_of_a_push_do_the_same(backend: Backend, repository: Repository, topic: str) -> None:
    """Identifiers, creations and mappings, single or many, are one thing (IN-14)."""
    pushed = {name: run(backend, form, repository, topic) for name, form in FORMS.items()}

    seen = {name: [(it.identifier, it.input, it.attempt, it.token) for it in pushed[name]] for name in pushed}
    assert seen == {name: [("a", None, 0, 0), ("b", None, 0, 0)] for name in FORMS}
    sequences = [task.sequence for tasks in pushed.values() for task in tasks]
    assert states(backend, repository, topic) == dict.fromkeys(sequences, READY)


def test_a_mapping_gives_each_identifier_its_input(backend: Backend, repository: Repository, topic: str) -> None:
    """Identifiers map to inputs (IN-14)."""
    tasks = run(backend, repository.push_many, topic, {"a": "in", "b": None})

    assert [(it.identifier, it.input) for it in tasks] == [("a", "in"), ("b", None)]


@EVERY_MODE
def test_a_rollback_undoes_a_push(backend: Backend, repository: Repository, topic: str, insertion: Insertion) -> None:
    """New rows and every effect on older ones go with the transaction (IN-15)."""
    [old] = push(backend, repository, topic, "a")
    tx = backend.open()
    repository.push(tx, topic, "a", insertion=insertion)
    backend.rollback(tx)
    backend.close(tx)
    [after] = push(backend, repository, topic, "b")

    assert states(backend, repository, topic) == {old.sequence: READY, after.sequence: READY}


@EVERY_EXCLUSIVE_MODE
def test_a_push_sees_what_its_own_transaction_did(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """Two pushes of one identifier in one transaction leave one READY task, the last (IN-01, IN-15)."""
    with backend.begin() as tx:
        tasks = [repository.push(tx, topic, "a", insertion=insertion) for _ in range(3)]

    stored = states(backend, repository, topic)
    assert [sequence for sequence, state in stored.items() if state is READY] == [tasks[-1].sequence]


def test_a_redundant_task_keeps_what_it_had(backend: Backend, repository: Repository, topic: str) -> None:
    """Owner, output and completion time stay (IN-17)."""
    push(backend, repository, topic, "a")
    [old] = poll(backend, repository, topic)
    complete(backend, repository, topic, old, TaskDecision.success("done"))
    before = info(backend, repository, topic, old)
    push(backend, repository, topic, "a", insertion=Insertion.REPLACE)
    after = info(backend, repository, topic, old)

    assert (after.state, after.owner, after.output, after.completed) == (
        REDUNDANT,
        "me",
        "done",
        before.completed,
    )


@pytest.mark.kinds("driver", "plain")
@EVERY_MODE
@pytest.mark.parametrize("size", [1, 1000, 1001, 20_000])
def test_batches_of_any_size(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion, size: int
) -> None:
    """Large batches work in every mode, and so does obsoleting each of their tasks (IN-19)."""
    size = backend.many(size)
    identifiers = [str(number) for number in range(size)]
    for _ in range(2):
        tasks = run(backend, repository.push_many, topic, identifiers, insertion=insertion)

    assert len(tasks) == size
    older = {
        Insertion.APPEND: {READY: 2 * size},
        Insertion.SUPERSEDE: {READY: size, REDUNDANT: size},
        Insertion.REPLACE: {READY: size, REDUNDANT: size},
        Insertion.DELETE: {READY: size},
    }
    assert dict(backend.sql("SELECT state, count(*) FROM task GROUP BY state")) == older[insertion]


@EVERY_MODE
def test_an_unknown_topic_is_named_and_nothing_is_lost(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """The error names the topic, partitioned or not, and the transaction goes on (IN-B5, IN-B6)."""
    with backend.begin() as tx:
        before = repository.push(tx, topic, "before")
        with pytest.raises(UnknownTopicError, match="unknown") as caught:
            repository.push_many(tx, "unknown", ["a", "b"], insertion=insertion)
        after = repository.push(tx, topic, "after")

    assert caught.value.topic == "unknown"
    assert states(backend, repository, topic) == {before.sequence: READY, after.sequence: READY}


WRONG: dict[str, tuple[Any, ...]] = {
    "empty topic": ("", ["a"]),
    "blank topic": (" ", ["a"]),
    "over-long topic": ("t" * 251, ["a"]),
    "topic with a NUL": ("t\0", ["a"]),
    "topic of a wrong type": (7, ["a"]),
    "empty identifier": ("topic", ["a", ""]),
    "over-long identifier": ("topic", ["a", "i" * 501]),
    "over-long identifier in a mapping": ("topic", {"a": None, "i" * 501: None}),
    "input of a wrong type": ("topic", {"a": None, "b": 7}),
    "creation of a wrong type": ("topic", ["a", None]),
    "one text instead of many": ("topic", "abc"),
    "one creation instead of many": ("topic", TaskCreation("a")),
    "insertion as text": ("topic", ["a"], "REPLACE"),
    "no insertion": ("topic", ["a"], None),
}


def test_wrong_arguments_are_refused_before_any_statement(backend: Backend, repository: Repository, topic: str) -> None:
    """Nothing of the batch is written and the transaction goes on (IN-B7)."""
    refused = set()
    with backend.begin() as tx:
        for name, arguments in WRONG.items():
            place, creations, insertion = (*arguments, Insertion.APPEND)[:3]
            try:
                repository.push_many(tx, place, creations, insertion=insertion)
            except InvalidTaskError:
                refused.add(name)
        after = repository.push(tx, topic, "after")

    assert refused == set(WRONG)
    assert states(backend, repository, topic) == {after.sequence: READY}


def test_a_single_push_refuses_the_same(backend: Backend, repository: Repository, topic: str) -> None:
    """The single form validates like the many (IN-14, IN-B7)."""
    wrong: list[tuple[Any, Any]] = [("", "a"), ("t" * 251, "a"), (topic, ""), (topic, "i" * 501), (topic, None)]
    with backend.begin() as tx:
        for place, creation in wrong:
            with pytest.raises(InvalidTaskError):
                repository.push(tx, place, creation)
        after = repository.push(tx, topic, "after")

    assert states(backend, repository, topic) == {after.sequence: READY}


# With several producers at once --------------------------------------------------------------------------


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    """A thread for the producer that has to wait."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


def ready(backend: Backend, repository: Repository, topic: str) -> list[int]:
    """Return the sequences that are READY."""
    stored = states(backend, repository, topic)
    return [sequence for sequence, state in stored.items() if state is READY]


@pytest.mark.backends("postgresql", "oracle")
@EVERY_EXCLUSIVE_MODE
def test_overlapping_pushes_leave_one_ready(
    backend: Backend,
    repository: Repository,
    topic: str,
    insertion: Insertion,
    aside: ThreadPoolExecutor,
) -> None:
    """Two producers of one identifier serialise; the highest sequence alone is READY (IN-B1)."""
    tx = backend.open()
    first = repository.push(tx, topic, "a", insertion=insertion)
    second = aside.submit(push, backend, backend.repository("other"), topic, "b", "a", "c", insertion=insertion)
    await_lock(backend, second)
    backend.commit(tx)
    pushed = second.result(TIMEOUT)

    assert first.sequence < pushed[1].sequence
    assert ready(backend, repository, topic) == [task.sequence for task in pushed]


@pytest.mark.backends("postgresql", "oracle")
@EVERY_EXCLUSIVE_MODE
def test_overlapping_pushes_in_opposite_orders_do_not_deadlock(
    backend: Backend,
    repository: Repository,
    topic: str,
    insertion: Insertion,
    aside: ThreadPoolExecutor,
) -> None:
    """Locks are taken in one order whatever the order of the batch (IN-B1)."""
    identifiers = [str(number) for number in range(300)]
    futures = [aside.submit(push, backend, repository, topic, *identifiers, insertion=insertion) for _ in range(5)]
    other = backend.repository("other")
    for _ in range(5):
        push(backend, other, topic, *reversed(identifiers), insertion=insertion)
    for future in futures:
        future.result(TIMEOUT)

    assert len(ready(backend, repository, topic)) == 300


@pytest.mark.backends("postgresql", "oracle")
@EVERY_EXCLUSIVE_MODE
@pytest.mark.parametrize("commits", [False, True], ids=["rolled back", "committed"])
def test_a_task_locked_by_a_poll_is_judged_when_the_poll_is_over(
    *,
    backend: Backend,
    repository: Repository,
    topic: str,
    insertion: Insertion,
    commits: bool,
    aside: ThreadPoolExecutor,
) -> None:
    """A push waits for a poll and spares its task only if it became ACTIVE (IN-18, IN-B2)."""
    [old] = push(backend, repository, topic, "a")
    tx = backend.open()
    repository.poll(tx, topic)
    pushed = aside.submit(push, backend, backend.repository("other"), topic, "a", insertion=insertion)
    await_lock(backend, pushed)
    (backend.commit if commits else backend.rollback)(tx)
    [new] = pushed.result(TIMEOUT)

    left = None if insertion is Insertion.DELETE else REDUNDANT
    assert states(backend, repository, topic).get(old.sequence) == (ACTIVE if commits else left)
    assert ready(backend, repository, topic) == [new.sequence]


@pytest.mark.backends("postgresql", "oracle")
@EVERY_EXCLUSIVE_MODE
@pytest.mark.parametrize("size", [2, 3000])
def test_a_rival_that_comes_while_a_batch_is_made_is_judged_too(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion, size: int
) -> None:
    """What counts is the surviving row's own sequence, not the first of its batch (IN-B3)."""
    rivals: list[Task] = []

    def creations() -> Iterator[str]:
        yield from (str(number) for number in range(size))
        rivals.extend(push(backend, repository, topic, "a"))
        yield "a"

    with backend.begin() as tx:
        *_, survivor = repository.push_many(tx, topic, creations(), insertion=insertion)

    stored = states(backend, repository, topic)
    left = None if insertion is Insertion.DELETE else REDUNDANT
    assert [stored.get(it.sequence) for it in (*rivals, survivor)] == [left, READY]


@pytest.mark.backends("postgresql", "oracle")
def test_an_append_waits_for_nobody(backend: Backend, repository: Repository, topic: str) -> None:
    """APPEND promises nothing about siblings, so that it goes past a REPLACE of the identifier (IN-01)."""
    tx = backend.open()
    repository.push(tx, topic, "a", insertion=Insertion.REPLACE)

    assert len(push(backend, backend.repository("other"), topic, "a")) == 1


def test_a_due_creation_is_suspended_in_any_mode(backend: Backend, repository: Repository, topic: str) -> None:
    """A due time makes a SUSPENDED task, and the mode applies as ever (IN-07, IN-09)."""
    [old] = push(backend, repository, topic, "a")
    [new] = push(backend, repository, topic, "a", due=timedelta(hours=1), insertion=Insertion.REPLACE)

    assert states(backend, repository, topic) == {old.sequence: REDUNDANT, new.sequence: SUSPENDED}
