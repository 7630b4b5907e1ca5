"""The enumerations: stored ordinals are frozen, every other name is part of the contract."""

from enum import Enum
from itertools import product

import pytest

from task_api import (
    FINISHED,
    INCEPTION,
    MAX_SEQUENCE,
    Claim,
    Condition,
    Direction,
    Insertion,
    Junction,
    Order,
    Revivification,
    Snapshot,
    TaskResult,
    TaskState,
)

STATES = [
    "ACTIVE",
    "READY",
    "EXPIRED",
    "FAILED",
    "SUSPENDED",
    "FILTERED",
    "SUCCEEDED",
    "RECREATED",
    "REDUNDANT",
]
RESULTS = {"FAILURE": "FAILED", "SUSPENSION": "SUSPENDED", "FILTER": "FILTERED", "SUCCESS": "SUCCEEDED"}
PLAIN: list[tuple[type[Enum], set[str]]] = [
    (Insertion, {"APPEND", "SUPERSEDE", "REPLACE", "DELETE"}),
    (Order, {"FIRST_IN_FIRST_OUT", "LAST_IN_FIRST_OUT"}),
    (
        Condition,
        {
            "NONE",
            "SINGULAR_BY_IDENTIFIER",
            "SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE",
            "SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS",
        },
    ),
    (Revivification, {"APPEND", "REPLACE", "SUPERSEDE", "RESET"}),
    (Junction, {"SINGULAR", "ETERNAL"}),
    (Direction, {"FORWARD", "BACKWARD"}),
    (Snapshot, {"RECENT", "TOTAL"}),
    (Claim, {"COMMITTED", "TRANSACTION"}),
]


def test_state_ordinals_are_frozen() -> None:
    """Nine states have the ordinals 0 to 8 that are stored (ST-01)."""
    assert [(state.name, state.value) for state in TaskState] == list(zip(STATES, range(9), strict=True))


@pytest.mark.parametrize("ordinal", range(9))
def test_an_ordinal_gives_its_state_back(ordinal: int) -> None:
    """From ordinal to state is the exact inverse (ST-02)."""
    assert TaskState(ordinal).value == ordinal


@pytest.mark.parametrize("ordinal", [-1, 9])
def test_an_ordinal_out_of_range_is_an_error(ordinal: int) -> None:
    """There is no state below 0 or above 8 (ST-02)."""
    with pytest.raises(ValueError, match="TaskState"):
        TaskState(ordinal)


def test_result_ordinals_are_frozen() -> None:
    """Four results have the ordinals 0 to 3 (ST-03)."""
    assert [(result.name, result.value) for result in TaskResult] == list(
        zip(RESULTS, range(4), strict=True),
    )


@pytest.mark.parametrize("result", TaskResult)
def test_a_result_maps_to_its_state(result: TaskResult) -> None:
    """A result's state bears its name and lies three ordinals higher, 3 to 6 (ST-03, ST-B1)."""
    assert (result.state.name, result.state.value) == (RESULTS[result.name], result.value + 3)


@pytest.mark.parametrize(("one", "other"), list(product(TaskResult, TaskResult)))
def test_the_worse_result_wins_a_merge(one: TaskResult, other: TaskResult) -> None:
    """Merged in any order, FAILURE beats SUSPENSION beats FILTER beats SUCCESS (ST-04)."""
    priority = [TaskResult.FAILURE, TaskResult.SUSPENSION, TaskResult.FILTER, TaskResult.SUCCESS]

    assert one.merge(other) is next(result for result in priority if result in (one, other))


def test_finished_states_are_what_a_purge_takes_by_default() -> None:
    """FINISHED leaves out whatever still waits for somebody (ST-05)."""
    assert {state.name for state in FINISHED} == {"FAILED", "FILTERED", "SUCCEEDED", "RECREATED", "REDUNDANT"}


@pytest.mark.parametrize(("enumeration", "names"), PLAIN, ids=lambda value: getattr(value, "__name__", ""))
def test_names_of_the_other_enumerations(enumeration: type[Enum], names: set[str]) -> None:
    """The names that other code uses exist."""
    assert {member.name for member in enumeration} >= names


def test_bounds_of_sequences() -> None:
    """INCEPTION lies below every sequence, MAX_SEQUENCE is the highest 64-bit number."""
    assert (INCEPTION, MAX_SEQUENCE) == (0, 2**63 - 1)
