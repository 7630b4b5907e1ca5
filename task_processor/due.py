"""How long it takes until a moment by the database's clock, which may differ from this machine's."""

import math
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

__all__ = ["DueClock"]

_SHORTEST: Final = timedelta(milliseconds=20)
_DOUBLINGS: Final = 30


class DueClock:
    """
    Learns from what was due, and what was not yet, how far the database's clock is from this machine's.

    Only the database decides what is due. This says when to ask again.

    Args:
        now: This machine's time in seconds, which never jumps.
        guess: What to add to it for the database's time, as long as nothing is known: this machine's own clock.

    """

    def __init__(self, now: Callable[[], float] = time.monotonic, guess: float | None = None) -> None:
        self.now = now
        self._guess = time.time() - now() if guess is None else guess
        self._least = -math.inf
        self._most = math.inf
        self._early = 0

    def was_due(self, moment: datetime) -> None:
        """Learn that the database takes this moment for past."""
        self._least = max(self._least, moment.timestamp() - self.now())
        # Clocks are set from time to time; what was learned last counts.
        self._most = max(self._most, self._least)
        self._early = 0

    def is_due_in(self, moment: datetime, asked: float) -> timedelta:
        """Learn that the database took this moment for future when it was asked; return how long to wait."""
        self._most = min(self._most, moment.timestamp() - asked)
        self._least = min(self._least, self._most)
        wait = timedelta(seconds=moment.timestamp() - self._offset() - self.now())
        if wait >= _SHORTEST:
            self._early = 0
            return wait
        # It should be due by now: ask again, ever later.
        self._early = min(self._early + 1, _DOUBLINGS)
        return _SHORTEST * (1 << self._early - 1)

    def _offset(self) -> float:
        if math.isinf(self._least):
            return min(self._guess, self._most)
        # The next answer halves what is not known.
        return (self._least + self._most) / 2
