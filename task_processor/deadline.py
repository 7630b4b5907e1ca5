"""How much of a time limit is left."""

import threading
import time
from datetime import timedelta
from typing import Final

from task_api import InvalidTaskError

__all__ = ["Deadline", "checked_duration", "seconds"]

_LONGEST: Final = threading.TIMEOUT_MAX / 2
"""As many seconds as can be waited for, reckoned with and rounded: more than a hundred years on most machines."""


class Deadline:
    """A moment until which something has to be done; none at all for None."""

    def __init__(self, timeout: timedelta | None) -> None:
        limit = seconds(timeout)
        self._end = None if limit is None else time.monotonic() + limit

    @property
    def left(self) -> timedelta | None:
        """What is left, never negative."""
        return None if self._end is None else timedelta(seconds=max(self._end - time.monotonic(), 0))

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self._end is not None and time.monotonic() >= self._end


def seconds(timeout: timedelta | None) -> float | None:
    """A time limit as the standard library wants it."""
    return None if timeout is None else min(timeout.total_seconds(), _LONGEST)


def checked_duration(name: str, value: object, *, zero: bool = False) -> timedelta:
    """Return a duration that is long enough to mean something."""
    if not isinstance(value, timedelta) or value < timedelta() or (not zero and not value):
        wanted = "that is not negative" if zero else "longer than zero"
        message = f"{name} must be a timedelta {wanted}, not {value!r}"
        raise InvalidTaskError(message)
    return value
