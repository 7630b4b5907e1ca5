"""Trying again what failed."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from task_api import InvalidTaskError, Task, TaskDecision, TaskResult

from .number import checked_number

__all__ = ["RetryPolicy", "backoff_delay"]

_LONGEST: Final = timedelta(hours=1)
_DOUBLINGS: Final = 60


def backoff_delay(
    first: timedelta, failures: int, longest: timedelta, chance: Callable[[], float] = random.random
) -> timedelta:
    """How long to wait after so many failures in a row: doubled each time, up to a limit, within ±50 %."""
    delay = first
    for _ in range(1, min(failures, _DOUBLINGS)):
        delay = min(delay * 2, longest)
    return min(delay, longest) * (0.5 + chance())


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """
    Turns a failure into another attempt, until there were enough of them.

    A task that fails becomes SUSPENDED until it is due again; the last attempt leaves it FAILED. A decision that
    brings a due time of its own stays as it is.
    """

    max_attempts: int
    """How many attempts a task gets, the first included."""
    backoff: timedelta = timedelta(seconds=1)
    """How long the second attempt waits; each further one waits twice as long, all within ±50 %."""
    limit: timedelta = field(default=_LONGEST, kw_only=True)
    """The longest wait, before the ±50 %."""
    rules: Mapping[type[Any], "RetryPolicy | None"] = field(default_factory=dict, kw_only=True)
    """Other policies for types of errors, the closest base class counting; None means no further attempt."""
    chance: Callable[[], float] = field(default=random.random, kw_only=True, repr=False, compare=False)
    """Gives numbers from 0 to 1 to spread the waits by."""

    def __post_init__(self) -> None:
        checked_number("max_attempts", self.max_attempts)
        for name in ("backoff", "limit"):
            value = getattr(self, name)
            if not isinstance(value, timedelta) or value < timedelta():
                message = f"{name} must be a timedelta that is not negative, not {value!r}"
                raise InvalidTaskError(message)

    def apply(self, task: Task, decision: TaskDecision) -> TaskDecision:
        """Return the decision, with a due time if it is a failure to be tried again."""
        if decision.result is not TaskResult.FAILURE or decision.due is not None:
            return decision
        policies = [self._rule(error) for error in _errors(decision.exception)]
        # Of several problems the one that allows the fewest attempts decides.
        policy = min(policies, key=lambda item: item.max_attempts if item else 0) if policies else self
        if policy is None or task.attempt >= policy.max_attempts:
            return decision
        delay = backoff_delay(policy.backoff, task.attempt, policy.limit, policy.chance)
        return replace(decision, due=delay)

    def _rule(self, error: BaseException) -> "RetryPolicy | None":
        return next((self.rules[base] for base in type(error).__mro__ if base in self.rules), self)


def _errors(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _errors(member)
    elif error is not None:
        yield error
