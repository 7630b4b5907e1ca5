"""The quick ways to make values give what a dataclass would."""

import inspect
import pickle
from dataclasses import MISSING, FrozenInstanceError, astuple, dataclass, fields, replace

import pytest

from task_api import Claim, InvalidTaskError, Task, TaskCreation
from task_api.task import new_task

GIVEN = (1, "a", "input", 2, 3, Claim.TRANSACTION)


def test_it_takes_what_the_class_takes() -> None:
    """Every field, by its name, in its place and with its default."""
    assert inspect.signature(new_task).parameters == inspect.signature(Task).parameters


@pytest.mark.parametrize("given", [GIVEN, GIVEN[:2]], ids=["all", "the least"])
def test_it_makes_a_task(given: tuple[int, str]) -> None:
    """Nothing tells it from one that the class has made (ST-14)."""
    task, other = new_task(*given), Task(*given)

    assert type(task) is Task
    assert astuple(task) == astuple(other)
    assert (task, hash(task), repr(task), str(task)) == (other, hash(other), repr(other), str(other))
    assert astuple(pickle.loads(pickle.dumps(task))) == astuple(other)  # noqa: S301 - our own
    assert replace(task, token=7).token == 7


def test_it_is_immutable() -> None:
    """Once made, like any other."""
    task = new_task(*GIVEN)

    with pytest.raises(FrozenInstanceError):
        task.sequence = 2  # type: ignore[misc]
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        task.other = 2  # type: ignore[attr-defined]


def test_a_creation_takes_its_fields() -> None:
    """Every one, by its name, in its place and with its default."""
    declared = {
        each.name: inspect.Parameter.empty if each.default is MISSING else each.default for each in fields(TaskCreation)
    }
    taken = {name: each.default for name, each in inspect.signature(TaskCreation).parameters.items()}

    assert list(taken.items()) == list(declared.items())


def test_a_creation_is_copied_whole() -> None:
    """What is not changed stays, and no copy can be changed (IN-13)."""
    creation = TaskCreation("a", "input", "reference", suspended=True)

    assert astuple(pickle.loads(pickle.dumps(creation))) == astuple(creation)  # noqa: S301 - our own
    assert astuple(replace(creation)) == astuple(creation)
    with pytest.raises(FrozenInstanceError):
        replace(creation).input = "other"  # type: ignore[misc]


def test_a_kind_of_creation_is_checked_too() -> None:
    """A class made from it has its own fields, and the same rules."""

    @dataclass(frozen=True)
    class Order(TaskCreation):
        number: int = 0

    order = Order("a", " ", number=7)

    assert (order.identifier, order.input, order.number) == ("a", None, 7)
    with pytest.raises(InvalidTaskError):
        Order("", number=7)
