"""TaskDecision: results, messages, problems, continuation and how they merge."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from task_api import (
    InvalidTaskError,
    Task,
    TaskDecision,
    TaskResult,
    TaskState,
    combine_decisions,
    merge_decisions,
)

SOON, LATER = timedelta(minutes=1), timedelta(hours=1)
MOMENT = datetime(2024, 2, 29, 12, tzinfo=UTC)
READY_MADE = {
    TaskResult.FAILURE: TaskDecision.FAILURE,
    TaskResult.SUSPENSION: TaskDecision.SUSPENSION,
    TaskResult.FILTER: TaskDecision.FILTER,
    TaskResult.SUCCESS: TaskDecision.SUCCESS,
}


def raised(problem: Exception, cause: Exception | None = None) -> Exception:
    """Return the problem as it is after being raised, with a trace of its own."""
    with pytest.raises(type(problem)) as caught:
        raise problem from cause
    return caught.value


def text(decision: TaskDecision) -> str:
    """Return what would be stored."""
    assert decision.output is not None
    return decision.output


@pytest.mark.parametrize("result", TaskResult)
def test_ready_made_decisions(result: TaskResult) -> None:
    """For each result there is one without message, problem or due time (DE-01, DE-03)."""
    decision = READY_MADE[result]

    assert (decision.result, decision.message, decision.exception, decision.due, decision.output) == (
        result,
        None,
        None,
        None,
        None,
    )


@pytest.mark.parametrize("result", TaskResult)
def test_only_success_continues_by_default(result: TaskResult) -> None:
    """The flag is true exactly for SUCCESS unless it is given (DE-01, DE-02)."""
    assert TaskDecision(result).continued is (result is TaskResult.SUCCESS)
    assert [TaskDecision(result, continued=flag).continued for flag in (False, True)] == [False, True]


@pytest.mark.parametrize(
    ("make", "result"),
    [
        (TaskDecision.success, TaskResult.SUCCESS),
        (TaskDecision.failure, TaskResult.FAILURE),
        (TaskDecision.filter, TaskResult.FILTER),
        (TaskDecision.suspension, TaskResult.SUSPENSION),
    ],
    ids=["success", "failure", "filter", "suspension"],
)
def test_named_forms_take_a_message(make: Callable[[str | None], TaskDecision], result: TaskResult) -> None:
    """Each named form gives its result; no message means none (DE-03, DE-04)."""
    assert make("hello") == TaskDecision(result, "hello")
    assert make(None) == READY_MADE[result]


def test_a_failure_takes_an_exception() -> None:
    """From an exception alone comes a FAILURE that keeps it (DE-03)."""
    problem = ValueError("broken")

    assert TaskDecision.failure(problem) == TaskDecision(TaskResult.FAILURE, exception=problem)


@pytest.mark.parametrize(
    ("outcome", "decision"),
    [
        (None, TaskDecision.SUCCESS),
        ("hello", TaskDecision.success("hello")),
        (TaskResult.FILTER, TaskDecision.FILTER),
        (TaskDecision.SUSPENSION, TaskDecision.SUSPENSION),
    ],
    ids=["nothing", "message", "result", "decision"],
)
def test_an_outcome_becomes_a_decision(outcome: str | TaskResult | None, decision: TaskDecision) -> None:
    """Nothing or a message alone is SUCCESS, a result or decision is itself (DE-03, DE-04)."""
    assert TaskDecision.of(outcome) == decision


def test_an_exception_as_outcome_is_a_failure() -> None:
    """From an exception alone comes a FAILURE (DE-03)."""
    problem = ValueError("broken")

    assert TaskDecision.of(problem) == TaskDecision.failure(problem)


def test_anything_else_is_no_outcome() -> None:
    """What is neither decision, text nor error is refused rather than taken for a success."""
    with pytest.raises(InvalidTaskError):
        TaskDecision.of(7)  # type: ignore[arg-type]


def test_continuation_is_set_on_a_copy() -> None:
    """Only the flag differs, and the original stays (DE-05)."""
    decision = TaskDecision.failure("no")
    copy = decision.with_continuation(True)  # noqa: FBT003

    assert (decision.continued, copy) == (False, TaskDecision(TaskResult.FAILURE, "no", continued=True))


@pytest.mark.parametrize("flag", [True, False])
def test_an_unchanged_continuation_returns_the_same_object(*, flag: bool) -> None:
    """Setting the flag that is there changes nothing (DE-05)."""
    decision = TaskDecision(TaskResult.FILTER, continued=flag)

    assert decision.with_continuation(flag) is decision


@pytest.mark.parametrize(("one", "other"), list(product(TaskResult, TaskResult)))
def test_a_merge_takes_the_worse_result(one: TaskResult, other: TaskResult) -> None:
    """All 16 pairs follow the order of the results (DE-06, ST-04)."""
    assert READY_MADE[one].merge(READY_MADE[other]).result is min(one, other)


@pytest.mark.parametrize("result", TaskResult)
@pytest.mark.parametrize(("one", "other"), list(product([True, False], [True, False])))
def test_a_merge_continues_only_if_both_do(*, result: TaskResult, one: bool, other: bool) -> None:
    """The flags are combined also when the results are equal, on either side (DE-06, DE-B1)."""
    merged = TaskDecision(result, continued=one).merge(TaskDecision.SUCCESS.with_continuation(other))
    reverse = TaskDecision.SUCCESS.with_continuation(other).merge(TaskDecision(result, continued=one))

    assert (merged.continued, reverse.continued) == (one and other, one and other)
    assert merged.same_result(reverse)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [(None, None, None), ("a", None, "a"), (None, "b", "b"), ("a", "b", "a\nb"), ("a", "a", "a")],
)
def test_merged_messages_are_joined_by_newline(one: str | None, other: str | None, message: str | None) -> None:
    """Both sides' messages are kept as plain lines, the same one only once (DE-06, DE-08, DE-B2)."""
    merged = TaskDecision.success(one).merge(TaskDecision.filter(other))

    assert (merged.message, merged.output) == (message, message)


@pytest.mark.parametrize("sides", [(True, False), (False, True), (True, True)], ids=["left", "right", "both"])
def test_a_problem_on_one_side_or_the_same_on_both_is_kept_once(sides: tuple[bool, bool]) -> None:
    """With one side absent the other counts; the identical object counts once (DE-06)."""
    problem = ValueError("broken")
    left, right = (TaskDecision.failure(problem if side else None) for side in sides)

    assert left.merge(right).exception is problem


def test_merged_problems_are_all_listed() -> None:
    """The text has a heading with their number, a line each, and every trace (CO-10, DE-06, DE-08)."""
    one, other = raised(ValueError("first")), raised(KeyError("second"))
    lines = text(TaskDecision.failure(one).merge(TaskDecision.failure(other))).splitlines()

    assert "2" in lines[0]
    assert [any(type(it).__name__ in line and str(it) in line for line in lines[1:3]) for it in (one, other)] == [
        True,
        True,
    ]
    assert sum(line.startswith("Traceback") for line in lines) == 2


def test_merging_merged_problems_never_nests() -> None:
    """Three or more problems form one flat list, each once (DE-06)."""
    problems = [ValueError(str(number)) for number in range(3)]
    one, two, three = map(TaskDecision.failure, problems)
    merged = one.merge(two).merge(two.merge(three))

    assert isinstance(merged.exception, BaseExceptionGroup)
    assert list(merged.exception.exceptions) == problems


def test_messages_and_problems_are_kept_beside_each_other() -> None:
    """A message on one side and an exception on the other are both in the text (DE-06, DE-08)."""
    merged = TaskDecision.success("half done").merge(TaskDecision.failure(raised(ValueError("broken"))))

    assert ("half done" in text(merged), "ValueError: broken" in text(merged)) == (True, True)


@pytest.mark.parametrize(
    ("one", "other", "due"),
    [
        (TaskDecision.retry(SOON), TaskDecision.SUCCESS, SOON),
        (TaskDecision.retry(SOON), TaskDecision.suspension(due=LATER), SOON),
        (TaskDecision.retry(SOON), TaskDecision.retry(LATER), LATER),
        (TaskDecision.retry(SOON), TaskDecision.FAILURE, None),
        (TaskDecision.suspension(due=SOON), TaskDecision.FAILURE, None),
        (TaskDecision.suspension(due=SOON), TaskDecision.SUSPENSION, None),
        (TaskDecision.suspension(due=MOMENT), TaskDecision.suspension(due=MOMENT + SOON), MOMENT + SOON),
    ],
)
def test_a_merged_due_time_belongs_to_the_result(
    one: TaskDecision, other: TaskDecision, due: datetime | timedelta | None
) -> None:
    """The worse result brings its due time; of equals the later counts, and for good beats any (DE-06)."""
    assert (one.merge(other).due, other.merge(one).due) == (due, due)


@pytest.mark.parametrize("result", TaskResult)
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("problem", ["more", ValueError("more")], ids=["message", "exception"])
def test_include_adds_text_only(*, result: TaskResult, flag: bool, problem: str | Exception) -> None:
    """Result and flag stay, the first message and the added problem are both in the text (DE-07)."""
    decision = TaskDecision(result, "first", continued=flag).include(problem)

    assert (decision.result, decision.continued) == (result, flag)
    assert ("first" in text(decision), "more" in text(decision)) == (True, True)


def test_include_nothing_changes_nothing() -> None:
    """Including None returns an equal decision (DE-04, DE-07)."""
    decision = TaskDecision.failure("no")

    assert decision.include(None) == decision


def test_equality_is_full_and_the_result_alone_has_a_name() -> None:
    """Decisions with other messages differ, and same_result says that the results agree (DE-09, DE-B3)."""
    one, other = TaskDecision.failure("one"), TaskDecision.failure("other")

    assert (one == other, one.same_result(other), one.same_result(TaskDecision.SUCCESS)) == (
        False,
        True,
        False,
    )
    assert TaskDecision.failure("one") == one


def test_merging_maps_keeps_what_both_decide() -> None:
    """Tasks present on one side only are left out (DE-10)."""
    one, both, other = (Task(sequence, "a") for sequence in (1, 2, 3))
    left = {one: TaskDecision.SUCCESS, both: TaskDecision.success("left")}
    right = {both: TaskDecision.filter("right"), other: TaskDecision.SUCCESS}

    assert merge_decisions(left, right) == {both: left[both].merge(right[both])}


def test_combining_maps_keeps_all_tasks() -> None:
    """Two maps without common tasks become one (DE-10)."""
    one, other = {Task(1, "a"): TaskDecision.SUCCESS}, {Task(2, "a"): TaskDecision.FAILURE}

    assert combine_decisions(one, other) == {**one, **other}


def test_combining_maps_refuses_a_task_in_both() -> None:
    """A duplicate key is an error that names the task (DE-10)."""
    decisions = {Task(17, "a"): TaskDecision.SUCCESS}

    with pytest.raises(InvalidTaskError, match="17"):
        combine_decisions(decisions, decisions)


def test_an_exception_is_stored_as_its_whole_trace() -> None:
    """The output of an exception has its trace and its causes (CO-10)."""
    decision = TaskDecision.failure(raised(ValueError("outer"), raised(KeyError("inner"))))

    assert [part in text(decision) for part in ("Traceback", "ValueError: outer", "KeyError: 'inner'")] == [True] * 3


def test_a_retry_is_a_failure_that_comes_back() -> None:
    """The result is FAILURE, the state SUSPENDED until due, the problem kept."""
    decision = TaskDecision.retry(SOON, "busy")

    assert (decision.result, decision.state, decision.due, decision.output, decision.continued) == (
        TaskResult.FAILURE,
        TaskState.SUSPENDED,
        SOON,
        "busy",
        False,
    )


def test_a_suspension_may_have_a_due_time() -> None:
    """It is SUSPENDED with or without one."""
    assert [TaskDecision.suspension(due=due).state for due in (None, SOON, MOMENT)] == [TaskState.SUSPENDED] * 3


def test_a_decision_is_immutable() -> None:
    """The ready-made ones are shared, so nobody can change them."""
    with pytest.raises(FrozenInstanceError):
        TaskDecision.SUCCESS.message = "mine"  # type: ignore[misc]


WRONG: dict[str, dict[str, Any]] = {
    "result as number": {"result": 3},
    "result as text": {"result": "SUCCESS"},
    "state instead of result": {"result": TaskState.SUCCEEDED},
    "message of a wrong type": {"message": 7},
    "exception as text": {"exception": "broken"},
    "exception as class": {"exception": ValueError},
    "naive due": {"due": datetime(2024, 1, 1)},  # noqa: DTZ001
    "due of a wrong type": {"due": 60},
    "due on a success": {"result": TaskResult.SUCCESS, "due": SOON},
    "due on a filter": {"result": TaskResult.FILTER, "due": SOON},
    "flag of a wrong type": {"continued": "no"},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_wrong_fields_are_refused_at_once(fields: dict[str, Any]) -> None:
    """A decision that could never be stored cannot even be made."""
    with pytest.raises(InvalidTaskError):
        TaskDecision(**{"result": TaskResult.FAILURE} | fields)


@pytest.mark.parametrize(
    ("after", "problem"),
    [(None, None), (60, None), (datetime(2024, 1, 1), None), (SOON, 7)],  # noqa: DTZ001
    ids=["no time", "number", "naive", "problem of a wrong type"],
)
def test_a_retry_needs_a_time(after: Any, problem: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """Without a time to come back it would be lost, so that it is refused."""
    with pytest.raises(InvalidTaskError):
        TaskDecision.retry(after, problem)


def test_problems_that_cannot_be_told_are_named() -> None:
    """An error whose text raises takes nothing else with it (DE-04)."""

    class UntellableError(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError

    output = TaskDecision.failure(ValueError("known")).include(UntellableError()).output
    assert output is not None
    assert "ValueError: known" in output
    assert "UntellableError" in output
