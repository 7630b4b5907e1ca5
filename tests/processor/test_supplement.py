"""What the steps of one batch share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from task_api import InvalidTaskError, Task
from task_processor import TaskContext, TaskSupplement
from task_processor.threads import DaemonExecutor
from tests.processor.support import PATIENCE

A, B = Task(1, "a"), Task(2, "b")


@pytest.fixture
def supplement() -> TaskSupplement:
    """An empty one."""
    return TaskSupplement()


def test_the_parts_of_a_key_are_independent(supplement: TaskSupplement) -> None:
    """Neither task nor qualifier falls back to a value without them (SU-01)."""
    keys: list[dict[str, Any]] = [
        {},
        {"task": A},
        {"task": B},
        {"qualifier": "q"},
        {"task": A, "qualifier": "q"},
    ]
    for index, key in enumerate(keys):
        assert supplement.probe(str, **key) is None
        supplement.register(str, f"value {index}", **key)
    assert [supplement.require(str, **key) for key in keys] == [f"value {index}" for index in range(5)]
    assert supplement.probe(int) is None


def test_a_second_value_is_refused(supplement: TaskSupplement) -> None:
    """What was registered stays (SU-02)."""
    supplement.register(str, "first", task=A, qualifier="q")
    with pytest.raises(InvalidTaskError, match=r"already for type str, qualifier 'q', task a \(1\)"):
        supplement.register(str, "second", task=A, qualifier="q")
    assert supplement.probe(str, task=A, qualifier="q") == "first"


def test_a_missing_value_is_named(supplement: TaskSupplement) -> None:
    """Require says what it looked for (SU-03)."""
    with pytest.raises(LookupError, match=r"no value for type list\[int\], qualifier 7, task b \(2\)"):
        supplement.require(list[int], task=B, qualifier=7)


def test_suggest_makes_a_value_once(supplement: TaskSupplement) -> None:
    """A value that is there is not made again (SU-04)."""
    assert supplement.suggest(str, lambda: "made") == "made"
    assert supplement.suggest(str, lambda: pytest.fail("made again")) == "made"


def test_suggest_makes_a_value_once_for_all_threads(supplement: TaskSupplement) -> None:
    """Steps that ask at the same time get the same value (SU-04, SU-07)."""
    together = threading.Barrier(8)
    made = []

    def make() -> list[str]:
        made.append(1)
        return []

    def ask() -> list[str]:
        together.wait(30)
        return supplement.suggest(list[str], make)

    with ThreadPoolExecutor(8) as executor:
        values = [future.result(30) for future in [executor.submit(ask) for _ in range(8)]]
    assert len({id(value) for value in values}) == 1
    assert made == [1]


def test_a_factory_may_use_the_supplement(supplement: TaskSupplement) -> None:
    """Also for the key that is being made (SU-B2)."""

    def make() -> str:
        supplement.register(int, 5)
        return supplement.suggest(str, lambda: "inner") + " and outer"

    assert supplement.suggest(str, make) == "inner"
    assert supplement.require(int) == 5


def test_parameterised_types_are_keys_of_their_own(supplement: TaskSupplement) -> None:
    """A list of text is no list of numbers, nor a plain list; equal types are one key (SU-05, SU-B1)."""
    supplement.register(list[str], ["text"])
    supplement.register(list[int], [1])
    assert (supplement.require(list[str]), supplement.require(list[int])) == (["text"], [1])
    assert supplement.probe(list) is None


@pytest.mark.parametrize("key", [None, "text", 5, A])
def test_what_is_no_type_is_refused(supplement: TaskSupplement, key: object) -> None:
    """A key is a type or a parameterised one (SU-06, SU-08)."""
    for call in (supplement.require, supplement.probe):
        with pytest.raises(InvalidTaskError, match="a key is a type"):
            call(cast("Any", key))


def test_none_is_no_value(supplement: TaskSupplement) -> None:
    """Neither registered nor made (SU-08)."""
    with pytest.raises(InvalidTaskError):
        supplement.register(str, cast("Any", None))
    with pytest.raises(InvalidTaskError):
        supplement.suggest(str, lambda: cast("Any", None))
    assert supplement.probe(str) is None


def test_the_context_comes_with_it() -> None:
    """Steps find the context of their batch (CS-04)."""
    context = TaskContext()
    assert TaskSupplement(context).context is context


def test_factories_that_need_each_other_do_not_wait_for_ever(supplement: TaskSupplement) -> None:
    """Steps that run at once may ask in any order, and all see the same values (SU-04, SU-07)."""
    both = threading.Barrier(2)

    def make(own: type[Any], other: type[Any]) -> Any:  # noqa: ANN401 - one of two kinds
        both.wait(PATIENCE)
        supplement.suggest(other, other)
        return own()

    threads = DaemonExecutor("test", 2)
    lists = threads.submit(supplement.suggest, list, lambda: make(list, dict))
    dicts = threads.submit(supplement.suggest, dict, lambda: make(dict, list))
    found = (lists.result(PATIENCE), dicts.result(PATIENCE))
    threads.shutdown()
    assert found[0] is supplement.require(list)
    assert found[1] is supplement.require(dict)
