"""Waiting longer each time."""

import random
from datetime import timedelta
from typing import Final

__all__ = ["backoff"]

_FIRST: Final = timedelta(milliseconds=100)
_LONGEST: Final = timedelta(seconds=30)
_DOUBLINGS: Final = 20


def backoff(failures: int) -> float:
    """How many seconds to wait after so many failures in a row: not at all, then doubled each time, within ±50 %."""
    if failures <= 1:
        return 0.0
    delay = min(_FIRST * (1 << min(failures - 2, _DOUBLINGS)), _LONGEST)
    return delay.total_seconds() * (0.5 + random.random())  # noqa: S311 - spreads, protects nothing
