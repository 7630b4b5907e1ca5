"""Large batches, large texts and difficult characters."""

import pytest

from task_api import (
    IDENTIFIER_LENGTH,
    OWNER_LENGTH,
    REFERENCE_LENGTH,
    TOPIC_LENGTH,
    Insertion,
    Junction,
    Listing,
    Revivification,
    Summary,
    Task,
    TaskCreation,
    TaskDecision,
    TaskResult,
    TaskState,
)
from tests.backends import Backend
from tests.backends.steps import complete, info, poll, push
from tests.conformance.scenes import Repository, run

pytestmark = pytest.mark.kinds("driver", "plain")

WIDE = "\N{GRINNING FACE}"
MANY = 20_000
TEXTS = {
    "quotes": 'it\'s "quoted" `so` [here]; DROP TABLE task; --',
    "markers": "100% :name %(name)s %s $1 ? {x} \\ \\n \\x41 %% ::int",
    "unicode": "e\u0301 \u00e9 \u202e \N{SNOWMAN} \N{GRINNING FACE} \U0010ffff \ufeff",
    "controls": "tab\tnew\nreturn\rbell\x07delete\x7fend",
}


def counts(backend: Backend, repository: Repository, topic: str) -> dict[TaskState, int]:
    """How many tasks are in each state."""
    return {state: summary.count for state, summary in run(backend, repository.count)[topic].items()}


@pytest.mark.parametrize("number", [1, 1_000, 1_001, 20_001, 200_000])
def test_pushes_of_any_size(backend: Backend, repository: Repository, topic: str, number: int) -> None:
    """All arrive, in their order, with their own inputs (IN-10, IN-16, IN-19)."""
    number = backend.many(number)
    creations = [TaskCreation(f"task-{n}", f"input-{n}") for n in range(number)]

    tasks = run(backend, repository.push_many, topic, creations)

    assert [task.identifier for task in tasks] == [creation.identifier for creation in creations]
    assert tasks == sorted(set(tasks))
    last = tasks[-1].sequence
    assert run(backend, repository.count) == {topic: {TaskState.READY: Summary(number, last)}}
    for task in (tasks[0], tasks[number // 2], tasks[-1]):
        stored = info(backend, repository, topic, task)
        assert (stored.identifier, stored.input) == (task.identifier, task.input)


def test_a_large_batch_is_polled_and_decided(backend: Backend, repository: Repository, topic: str) -> None:
    """One poll, one release and one completion of 20,000 tasks, then their revival (PO-05, CO-08, RE-02)."""
    many = backend.many(MANY)
    identifiers = [f"task-{n}" for n in range(many)]
    pushed = push(backend, repository, topic, *identifiers)

    held = poll(backend, repository, topic, many)
    run(backend, repository.release, topic, held)
    again = poll(backend, repository, topic, many)
    complete(backend, repository, topic, again, TaskDecision.failure("boom"))

    assert pushed == held == again
    assert counts(backend, repository, topic) == {TaskState.FAILED: many}
    run(backend, repository.reassign, topic, dict.fromkeys(again, TaskResult.SUCCESS))
    recreated = run(backend, repository.recreate_state, topic, Revivification.REPLACE, TaskState.SUCCEEDED, size=many)
    assert list(recreated) == pushed
    assert counts(backend, repository, topic) == {TaskState.RECREATED: many, TaskState.READY: many}
    assert run(backend, repository.purge, topic) == many


@pytest.mark.parametrize("insertion", [Insertion.SUPERSEDE, Insertion.REPLACE, Insertion.DELETE], ids=str)
def test_many_identifiers_are_replaced_at_once(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """20,000 identifiers in one call, twice, need no 20,000 locks at once (IN-19, P5)."""
    many = backend.many(MANY)
    identifiers = [f"task-{n}" for n in range(many)]
    push(backend, repository, topic, *identifiers)

    push(backend, repository, topic, *identifiers, insertion=insertion)

    retired = {} if insertion is Insertion.DELETE else {TaskState.REDUNDANT: many}
    assert counts(backend, repository, topic) == {TaskState.READY: many} | retired


@pytest.mark.parametrize("junction", Junction, ids=lambda junction: junction.name)
def test_many_identifiers_join_at_once(
    backend: Backend, repository: Repository, topic: str, junction: Junction
) -> None:
    """20,000 identifiers in 10,000 groups, half of them incomplete, are judged in one call (JU-10, P6)."""
    many = backend.many(MANY)
    identifiers = [f"task-{n}" for n in range(many)]
    push(backend, repository, topic, *identifiers, suspended=True)
    pairs = [identifiers[n : n + 2] for n in range(0, many, 2)]
    groups = [[*pair, "missing"] if n % 2 else pair for n, pair in enumerate(pairs)]

    released = run(backend, repository.junction, topic, groups, junction=junction)

    assert len(released) == many // 2
    half = many // 2
    assert counts(backend, repository, topic) == {TaskState.READY: half, TaskState.SUSPENDED: half}


@pytest.mark.parametrize("length", [0, 1, 10_000_000])
def test_texts_of_any_length(backend: Backend, repository: Repository, topic: str, length: int) -> None:
    """Input and output come back whole; an empty input is absent (IN-12, CO-11, ST-13)."""
    text = ("\N{SNOWMAN}" + "x" * length)[:length]
    push(backend, repository, topic, "a", input=text)

    (task,) = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.success(text))

    stored = info(backend, repository, topic, task)
    # Compared one by one: nobody wants to see the difference of two such texts.
    assert [(found or "") == text for found in (task.input, stored.input, stored.output)] == [True] * 3


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_any_character_anywhere(backend: Backend, text: str) -> None:
    """Names and texts come back as they were given, through every filter (S3-B5, ST-13)."""
    repository = backend.repository(text)
    run(backend, repository.initialize, text)
    creation = TaskCreation(text, text, text)

    tasks = [
        run(backend, repository.push, text, creation),
        *run(backend, repository.push_many, text, [creation, creation], insertion=Insertion.REPLACE),
    ]
    (task,) = poll(backend, repository, text)
    complete(backend, repository, text, task, TaskDecision.suspension(text))

    assert task == tasks[-1]
    assert run(backend, repository.junction, text, [{text}]) == {text}
    stored = info(backend, repository, text, task)
    assert (stored.topic, stored.identifier, stored.reference) == (text, text, text)
    assert (stored.input, stored.output, stored.owner) == (text, text, text)
    listing = Listing(reference=text, identifier=text)
    assert run(backend, repository.page, text, listing=listing) == tasks
    assert run(backend, repository.topics) == {text}
    run(backend, repository.activate, text, active=True)
    assert run(backend, repository.activation, text) is True


def test_the_widest_names(backend: Backend) -> None:
    """Every name at its limit, in characters of four bytes (ST-13, PA-08)."""
    topic, owner = WIDE * TOPIC_LENGTH, WIDE * OWNER_LENGTH
    identifier, reference = WIDE * IDENTIFIER_LENGTH, WIDE * REFERENCE_LENGTH
    repository = backend.repository(owner)
    run(backend, repository.initialize, topic)
    creation = TaskCreation(identifier, reference=reference)

    tasks = [
        run(backend, repository.push, topic, creation, insertion=insertion)
        for insertion in (Insertion.APPEND, Insertion.SUPERSEDE, Insertion.REPLACE)
    ]
    (task,) = poll(backend, repository, topic)
    complete(backend, repository, topic, task, TaskDecision.SUSPENSION)

    assert run(backend, repository.junction, topic, [{identifier, identifier}]) == {identifier}
    listing = Listing(reference=reference, identifier=identifier)
    assert run(backend, repository.page, topic, listing=listing) == tasks
    assert info(backend, repository, topic, Task(task.sequence, "")).owner == owner
