"""The decision on a task, how decisions merge, and the text that is stored of them."""

import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import repeat
from operator import is_
from typing import TYPE_CHECKING, ClassVar, Self

from .errors import InvalidTaskError, TaskResultError
from .state import TaskResult, TaskState
from .task import checked_due

if TYPE_CHECKING:
    from .task import Task

__all__ = ["TaskDecision", "combine_decisions", "different_decisions", "merge_decisions"]

_MUST_BE = "{} must be {}, not {}"


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """What becomes of a task: a result, what to store about it, and whether later steps still see the task."""

    result: TaskResult
    """The result, which decides the state."""
    message: str | None = None
    """Text to store as the output."""
    exception: BaseException | None = None
    """A problem whose trace is stored in the output; several are one exception group."""
    continued: bool | None = None
    """Whether later steps still see the task; by default exactly for SUCCESS."""
    due: datetime | timedelta | None = None
    """When a suspended or failed task comes back by itself; from now by the database's clock, or a moment."""

    SUCCESS: ClassVar["TaskDecision"]
    FAILURE: ClassVar["TaskDecision"]
    FILTER: ClassVar["TaskDecision"]
    SUSPENSION: ClassVar["TaskDecision"]

    def __post_init__(self) -> None:
        if not isinstance(self.result, TaskResult):
            raise InvalidTaskError(_MUST_BE.format("result", "a TaskResult", type(self.result).__name__))
        if self.message is not None and not isinstance(self.message, str):
            raise InvalidTaskError(_MUST_BE.format("message", "a str or None", type(self.message).__name__))
        if self.exception is not None and not isinstance(self.exception, BaseException):
            kind = type(self.exception).__name__
            raise InvalidTaskError(_MUST_BE.format("exception", "an exception or None", kind))
        if self.continued is not None and not isinstance(self.continued, bool):
            raise InvalidTaskError(_MUST_BE.format("continued", "a bool or None", type(self.continued).__name__))
        if self.continued is None:
            object.__setattr__(self, "continued", self.result is TaskResult.SUCCESS)
        if checked_due(self.due) is not None and self.result > TaskResult.SUSPENSION:
            message = f"a decision with a due time must be a FAILURE or a SUSPENSION, not {self.result.name}"
            raise InvalidTaskError(message)

    @classmethod
    def success(cls, message: str | None = None) -> Self:
        """Decide that the work is done."""
        return cls(TaskResult.SUCCESS, message)

    @classmethod
    def failure(cls, problem: str | BaseException | None = None) -> Self:
        """Decide that the work failed for good."""
        return cls(TaskResult.FAILURE).include(problem)

    @classmethod
    def filter(cls, message: str | None = None) -> Self:
        """Decide that there was nothing to do."""
        return cls(TaskResult.FILTER, message)

    @classmethod
    def suspension(cls, message: str | None = None, due: datetime | timedelta | None = None) -> Self:
        """Set the task aside, until it is due if a time is given."""
        return cls(TaskResult.SUSPENSION, message, due=due)

    @classmethod
    def retry(cls, after: datetime | timedelta, problem: str | BaseException | None = None) -> Self:
        """Decide that the work failed and is to be tried again: SUSPENDED until then, the problem kept."""
        if after is None:
            raise InvalidTaskError(_MUST_BE.format("after", "an aware datetime or a timedelta", "NoneType"))
        return cls(TaskResult.FAILURE, due=after).include(problem)

    @classmethod
    def of(cls, outcome: "str | BaseException | TaskResult | TaskDecision | None") -> "TaskDecision":
        """Turn what work returned or raised into a decision: nothing or a text is success, an error a failure."""
        match outcome:
            case None:
                return cls.SUCCESS
            case TaskDecision():
                return outcome
            case TaskResult():
                return cls(outcome)
            case str():
                return cls.success(outcome)
            case TaskResultError():
                problem = outcome.__cause__
                message = outcome.message if problem is None else None
                return cls(outcome.result, message, problem, outcome.continued)
            case BaseException():
                return cls.failure(outcome)
            case _:
                kind = type(outcome).__name__
                raise InvalidTaskError(_MUST_BE.format("an outcome", "a decision, text or error", kind))

    @property
    def state(self) -> TaskState:
        """The state that the task gets: the result's, or SUSPENDED while it waits to be tried again."""
        return self.result.state if self.due is None else TaskState.SUSPENDED

    @property
    def output(self) -> str | None:
        """The text that is stored: the message, then the trace of the problem, causes included."""
        if self.exception is None:
            return self.message
        trace = _trace(self.exception)
        return trace if self.message is None else f"{self.message}\n{trace}"

    def merge(self, other: "TaskDecision") -> "TaskDecision":
        """
        Combine two decisions on one task.

        The worse result wins, the messages and problems of both are kept, and the task continues only if both
        say so. A due time stays with the result that it belongs to; of two on one result the later one counts,
        and no due time (for good) beats any.
        """
        if self.result < other.result:
            due = self.due
        elif other.result < self.result:
            due = other.due
        else:
            due = _later(self.due, other.due)
        result = self.result.merge(other.result)
        continued = bool(self.continued and other.continued)
        merged = TaskDecision(result, self.message, self.exception, continued, due)
        return merged.include(other.message).include(other.exception)

    def include(self, problem: str | BaseException | None) -> Self:
        """Return a copy with one more message or problem; result and continuation stay."""
        if problem is None:
            return self
        if isinstance(problem, BaseException):
            return replace(self, exception=_group(self.exception, problem))
        if self.message is None or self.message == problem:
            return replace(self, message=problem)
        return replace(self, message=f"{self.message}\n{problem}")

    def with_continuation(self, continued: bool) -> Self:  # noqa: FBT001 - the field's own value
        """Return the decision with the flag set; itself where nothing changes."""
        return self if self.continued is continued else replace(self, continued=continued)

    def same_result(self, other: "TaskDecision") -> bool:
        """Tell whether the results agree, whatever the messages."""
        return self.result is other.result


TaskDecision.SUCCESS = TaskDecision(TaskResult.SUCCESS)
TaskDecision.FAILURE = TaskDecision(TaskResult.FAILURE)
TaskDecision.FILTER = TaskDecision(TaskResult.FILTER)
TaskDecision.SUSPENSION = TaskDecision(TaskResult.SUSPENSION)


def merge_decisions(
    left: "Mapping[Task, TaskDecision]", right: "Mapping[Task, TaskDecision]"
) -> "dict[Task, TaskDecision]":
    """Merge two maps of decisions; only the tasks that both decide are kept."""
    return {task: decision.merge(right[task]) for task, decision in left.items() if task in right}


def combine_decisions(
    left: "Mapping[Task, TaskDecision]", right: "Mapping[Task, TaskDecision]"
) -> "dict[Task, TaskDecision]":
    """Join two maps of decisions on different tasks; a task in both is an error."""
    if twice := left.keys() & right.keys():
        message = f"decided twice: {', '.join(map(str, sorted(twice)))}"
        raise InvalidTaskError(message)
    return {**left, **right}


class _Problems(BaseExceptionGroup[BaseException]):
    """Problems that were merged, so that merging again adds to them and a group raised by work stays one problem."""


def _group(present: BaseException | None, added: BaseException) -> BaseException:
    if present is None or present is added:
        return added
    problems = [*_problems(present)]
    problems += [problem for problem in _problems(added) if not any(problem is known for known in problems)]
    return _Problems(f"{len(problems)} problems", problems) if len(problems) > 1 else problems[0]


def _problems(exception: BaseException) -> Iterator[BaseException]:
    if isinstance(exception, _Problems):
        yield from exception.exceptions
    else:
        yield exception


def _trace(exception: BaseException) -> str:
    if not isinstance(exception, _Problems):
        return _single_trace(exception)
    problems = exception.exceptions
    lines = [f"{len(problems)} problems were captured:"]
    lines += [f"- {_title(problem)}" for problem in problems]
    return "\n\n".join(["\n".join(lines), *map(_single_trace, problems)])


def _title(exception: BaseException) -> str:
    # As a trace ends: it also knows what to say of an error that can't be turned into text.
    return "".join(traceback.format_exception_only(exception)).rstrip("\n")


def _single_trace(exception: BaseException) -> str:
    return "".join(traceback.format_exception(exception)).rstrip("\n")


def _later(left: datetime | timedelta | None, right: datetime | timedelta | None) -> datetime | timedelta | None:
    if left is None or right is None:
        return None
    if isinstance(left, timedelta) and isinstance(right, timedelta):
        return max(left, right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return max(left, right)
    return left if isinstance(left, datetime) else right


def different_decisions(decisions: Collection[TaskDecision]) -> list[TaskDecision]:
    """Return each object among decisions once: most batches share one, or a few."""
    first = next(iter(decisions), None)
    if first is None or all(map(is_, decisions, repeat(first))):
        return [] if first is None else [first]
    return list(dict(zip(map(id, decisions), decisions, strict=True)).values())
