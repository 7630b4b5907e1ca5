"""Many tasks in one push, which databases have ways of their own for."""

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import product

import psycopg
import pytest

from task_api import Insertion, InvalidTaskError, TaskCreation, TaskState
from tests.backends import Backend
from tests.conformance.scenes import Repository

SIGNS = ["\\", "\t", "\n", "\r", "\b", "\v", "N", ".", '"', "'", ",", "{", "%", "é", "\N{SLIGHTLY SMILING FACE}"]
"""What a stream of rows, an array, JSON or a driver could take for something else."""
TEXTS = ["".join(signs) for length in (1, 2, 3) for signs in product(SIGNS, repeat=length)]
NAMES = [text for text in TEXTS if not text.isspace()]


@pytest.mark.parametrize("topic", ["topic", "\\N", "a\tb\nc\\d"])
def test_texts_come_back_as_they_were(backend: Backend, repository: Repository, topic: str) -> None:
    """Names and inputs are of any characters, and nothing is not a text (IN-10, IN-12)."""
    creations = [TaskCreation(name, f"{name}x", name) for name in NAMES]
    creations += [TaskCreation(f"{name} alone") for name in NAMES]
    with backend.begin() as tx:
        repository.initialize(tx, topic)
        pushed = repository.push_many(tx, topic, creations)
        stored = repository.page(tx, topic, size=len(creations) + 1)

    assert [(task.identifier, task.input) for task in pushed] == [(each.identifier, each.input) for each in creations]
    assert [task.sequence for task in stored] == [task.sequence for task in pushed]
    assert [TaskCreation(task.identifier, task.input, task.reference) for task in stored] == creations
    assert [task.reference for task in stored] == [each.reference for each in creations]


@pytest.mark.parametrize("insertion", [Insertion.APPEND, Insertion.SUPERSEDE])
def test_texts_come_back_from_small_pushes(
    backend: Backend, repository: Repository, topic: str, insertion: Insertion
) -> None:
    """Whatever a batch of their size is written as (IN-01, IN-10)."""
    names = NAMES[:240]
    with backend.begin() as tx:
        for _ in range(2):
            for start in range(0, len(names), 30):
                creations = [TaskCreation(name, f"{name}x", name) for name in names[start : start + 30]]
                repository.push_many(tx, topic, [*creations, TaskCreation(f"{start}")], insertion=insertion)
        stored = repository.page(tx, topic, size=1000)

    named = [task for task in stored if task.reference is not None]
    assert [(task.identifier, task.input, task.reference) for task in named] == [(n, f"{n}x", n) for n in names] * 2
    assert {task.input for task in stored if task.reference is None} == {None}
    first = TaskState.READY if insertion is Insertion.APPEND else TaskState.REDUNDANT
    assert [task.state for task in named] == [first] * len(names) + [TaskState.READY] * len(names)


class Text(str):
    """A kind of its own."""

    __slots__ = ()


MAPPINGS: dict[str, dict[str, str | None]] = {
    "plain": {"a": "x", "b": None, "c d": "y" * 1000, "e" * 500: "z"},
    "empty inputs": {"a": "", "b": "x"},
    "blank inputs": {"a": "  ", "b": "x"},
    "inputs of other blanks": {"a": " \t", "b": "\u2003", "c": "x"},
    "NUL in an input": {"a": "x\0y", "b": "z"},
    "other letters": {"Ä": "ö", "\N{SLIGHTLY SMILING FACE}": "x"},
    "lone surrogate in an input": {"a": "x\ud800", "b": "y"},
    "control characters": {"a\tb": "x\ny", "c\x7f": "\x01"},
    "texts of another class": {Text("a"): Text("x"), Text("b"): None},
    "nothing": {},
}


@pytest.mark.parametrize("texts", MAPPINGS.values(), ids=MAPPINGS)
def test_mappings_are_pushed_like_creations(
    backend: Backend, repository: Repository, topic: str, texts: dict[str, str | None]
) -> None:
    """Whether or not all of one can be judged at once (IN-10, IN-12, IN-14)."""
    with backend.begin() as tx:
        mapped = repository.push_many(tx, topic, texts)
        single = repository.push_many(tx, topic, [TaskCreation(name, text) for name, text in texts.items()])
        stored = repository.page(tx, topic)

    values = [(task.identifier, task.input) for task in mapped]
    assert [(task.identifier, task.input) for task in single] == values
    assert [(task.identifier, task.input) for task in stored] == values * 2
    assert {task.state for task in stored} <= {TaskState.READY}


class Folder(Mapping[str, str]):
    """A mapping that reads what it is asked for, and can not be asked for everything."""

    def __init__(self, number: int) -> None:
        self.asked: list[str] = []
        self._number = number

    def __getitem__(self, name: str) -> str:
        if not name:
            raise IsADirectoryError(name)
        self.asked.append(name)
        return f"content of {name}"

    def __iter__(self) -> Iterator[str]:
        return iter([f"file {number}" for number in range(self._number)])

    def __len__(self) -> int:
        return self._number


@pytest.mark.parametrize("number", [2, 200])
def test_a_mapping_is_read_once(backend: Backend, repository: Repository, topic: str, number: int) -> None:
    """It is asked for what it has, and for each of it once, whatever class it is of (IN-10)."""
    folder = Folder(number)
    with backend.begin() as tx:
        pushed = repository.push_many(tx, topic, folder)

    assert [(task.identifier, task.input) for task in pushed] == [(name, f"content of {name}") for name in folder]
    assert folder.asked == list(folder)


class Name(str, Enum):  # noqa: UP042 - that one formats as it is
    """Names that format as something else than they are."""

    TOPIC = "topic"
    IDENTIFIER = "identifier"
    INPUT = "input"


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("number", [1, 2, 200])
def test_names_of_an_enum_are_the_texts_that_they_are(backend: Backend, repository: Repository, number: int) -> None:
    """Whatever a batch of their size is written as (IN-10)."""
    creations = [TaskCreation(Name.IDENTIFIER, Name.INPUT, Name.INPUT)] * number
    with backend.begin() as tx:
        repository.push_many(tx, Name.TOPIC, creations)
        repository.push_many(tx, Name.TOPIC, {Name.IDENTIFIER: Name.INPUT, **{f"{n}": None for n in range(number)}})
        repository.push(tx, Name.TOPIC, creations[0])
        polled = repository.poll_many(tx, Name.TOPIC, 2 * number + 2)

    assert len(polled) == 2 * number + 2
    assert {task.identifier for task in polled} == {"identifier", *map(str, range(number))}
    assert {task.input for task in polled} == {"input", None}


REFUSED: dict[str, dict[object, object]] = {
    "empty name": {"a": "x", "": "y"},
    "blank name": {"a": "x", "  ": "y"},
    "long name": {"a": "x", "b" * 501: "y"},
    "NUL in a name": {"a": "x", "b\0": "y"},
    "lone surrogate in a name": {"a": "x", "b\ud800": "y"},
    "name that is no text": {"a": "x", 1: "y"},
    "input that is no text": {"a": "x", "b": b"y"},
}


@pytest.mark.parametrize("texts", REFUSED.values(), ids=REFUSED)
def test_wrong_mappings_are_refused_before_anything_is_written(
    backend: Backend, repository: Repository, topic: str, texts: dict[str, str | None]
) -> None:
    """Each as a single creation would be (IN-12, IN-14)."""
    with backend.begin() as tx:
        with pytest.raises(InvalidTaskError):
            repository.push_many(tx, topic, texts)
        assert repository.page(tx, topic) == []


@pytest.mark.parametrize("number", [1, 2, 19, 20, 21, 40, 99, 100, 101, 119, 1000, 1001, 2019])
def test_all_of_them_are_stored_in_their_order(
    backend: Backend, repository: Repository, topic: str, number: int
) -> None:
    """However many they are, and whatever is done in blocks (IN-10, IN-16)."""
    with backend.begin() as tx:
        repository.push_many(tx, topic, ["before"])
        pushed = repository.push_many(
            tx, topic, [TaskCreation(f"{place}", f"input {place}") for place in range(number)]
        )
        after = repository.push(tx, topic, "after")
        polled = repository.poll_many(tx, topic, number + 2)

    assert [task.identifier for task in polled] == ["before", *map(str, range(number)), "after"]
    assert polled[1:-1] == pushed == sorted(pushed)
    assert [task.input for task in polled[1:-1]] == [f"input {place}" for place in range(number)]
    assert polled[-1] == after


@pytest.mark.parametrize("place", [0, 30, 119])
def test_one_that_waits_is_stored_among_others(
    backend: Backend, repository: Repository, topic: str, place: int
) -> None:
    """Those beside it are READY (IN-07)."""
    creations = [TaskCreation(f"{index}", suspended=index == place) for index in range(120)]
    with backend.begin() as tx:
        repository.push_many(tx, topic, creations)
        stored = repository.page(tx, topic, size=len(creations))

    assert [task.state is TaskState.SUSPENDED for task in stored] == [each.suspended for each in creations]


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver")
@pytest.mark.parametrize("number", [2, 200])
def test_what_the_client_can_not_say_leaves_the_transaction_usable(
    backend: Backend, repository: Repository, topic: str, number: int
) -> None:
    """A connection that speaks a smaller alphabet refuses the push, and goes on (P7)."""
    with psycopg.connect(backend.dsn, client_encoding="latin1") as tx:
        kept = repository.push_many(tx, topic, [TaskCreation(f"caf\xe9 {n}") for n in range(number)])
        with pytest.raises(UnicodeEncodeError):
            repository.push_many(tx, topic, [TaskCreation(f"{n}", "\N{SNOWMAN}") for n in range(number)])
    with backend.begin() as tx:
        assert repository.page(tx, topic, size=1_000) == kept
