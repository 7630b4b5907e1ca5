"""The errors: their tree, what they carry, and TaskResultError, by which work chooses a result."""

import pickle

import pytest

import task_api
from task_api import (
    LostTaskError,
    Task,
    TaskDecision,
    TaskError,
    TaskResult,
    TaskResultError,
    TaskStateError,
    UnknownOwnerError,
    UnknownTopicError,
)

TASKS = [Task(17, "invoice"), Task(4, "order")]


@pytest.mark.parametrize(
    "name",
    [
        "InvalidTaskError",
        "LostTaskError",
        "SchemaError",
        "TaskStateError",
        "UnknownOwnerError",
        "UnknownTopicError",
    ],
)
def test_every_error_of_the_library_has_one_base(name: str) -> None:
    """Callers catch TaskError for all that the library foresees."""
    assert issubclass(getattr(task_api, name), TaskError)


def test_a_chosen_result_is_no_error_of_the_library() -> None:
    """Work raises TaskResultError; code that catches TaskError does not swallow it (DE-11)."""
    assert not issubclass(TaskResultError, TaskError)


@pytest.mark.parametrize("kind", [LostTaskError, TaskStateError])
def test_errors_about_tasks_list_them(kind: type[LostTaskError | TaskStateError]) -> None:
    """The tasks are an attribute, and the message names topic, identifiers and sequences (CO-B3)."""
    error = kind("billing", TASKS)

    assert (error.tasks, error.topic) == (frozenset(TASKS), "billing")
    assert [part in str(error) for part in ("billing", "invoice", "17", "order", "4")] == [True] * 5


@pytest.mark.parametrize("kind", [LostTaskError, TaskStateError])
def test_errors_about_tasks_need_no_topic(kind: type[LostTaskError | TaskStateError]) -> None:
    """As a source of one's own may raise them; the message goes without it (CO-B3)."""
    error = kind(TASKS)

    assert (error.tasks, error.topic) == (frozenset(TASKS), "")
    assert [part in str(error) for part in ("topic '", "invoice", "17", "nothing was changed")] == [False, *[True] * 3]


@pytest.mark.parametrize(
    "error",
    [
        LostTaskError(TASKS),
        LostTaskError("billing", TASKS),
        TaskStateError("billing", TASKS),
        UnknownTopicError("billing"),
        UnknownOwnerError("me"),
        TaskResultError(TaskResult.FILTER, "nothing to do", continued=True),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_processes(error: Exception) -> None:
    """Executors pickle errors; all attributes arrive."""
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(
    ("error", "name"), [(UnknownTopicError("x-topic"), "x-topic"), (UnknownOwnerError("x-me"), "x-me")]
)
def test_errors_about_names_name_them(error: TaskError, name: str) -> None:
    """The message says which topic or owner is meant."""
    assert name in str(error)


@pytest.mark.parametrize("result", TaskResult)
def test_a_chosen_result_continues_only_on_success(result: TaskResult) -> None:
    """The flag is true by default only for SUCCESS, and can be given (DE-11)."""
    assert TaskResultError(result).continued is (result is TaskResult.SUCCESS)
    assert [TaskResultError(result, continued=flag).continued for flag in (False, True)] == [False, True]


@pytest.mark.parametrize("result", TaskResult)
@pytest.mark.parametrize("flag", [True, False])
def test_a_chosen_result_becomes_a_decision(*, result: TaskResult, flag: bool) -> None:
    """Result, message and flag arrive in the decision, the message as a message, not as a trace (DE-11)."""
    error = TaskResultError(result, "because", continued=flag)

    assert TaskDecision.of(error) == TaskDecision(result, "because", continued=flag)


def test_a_message_alone_means_failure() -> None:
    """Without a result it is a FAILURE (DE-11)."""
    assert TaskDecision.of(TaskResultError("because")) == TaskDecision.failure("because")


def test_a_cause_alone_means_failure() -> None:
    """An exception as the only argument is the cause of a FAILURE (DE-11)."""
    cause = ValueError("broken")

    assert TaskDecision.of(TaskResultError(cause)) == TaskDecision.failure(cause)


def test_a_cause_is_stored_instead_of_the_message() -> None:
    """Raised from another error, that error is what the decision keeps (DE-11)."""
    cause = ValueError("broken")
    with pytest.raises(TaskResultError) as caught:
        raise TaskResultError(TaskResult.SUSPENSION, "because") from cause

    assert TaskDecision.of(caught.value) == TaskDecision(TaskResult.SUSPENSION, exception=cause)
