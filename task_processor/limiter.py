"""
How many batches may be under way at once, over all processors that share a limiter.

A request for a slot is a token. Whether it gets its slot at once or waits is decided under the limiter's one lock,
and so is the passing on of a slot that becomes free: no slot can fall between a look and a wait.
"""

import heapq
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import count

from .number import checked_number

__all__ = ["TaskLimiter", "TaskToken"]


class TaskToken:
    """A request for a slot, from the moment it is made until the slot is given back."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self._granted = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is a slot, and tell whether there is; a request that is cancelled ends without one."""
        self._settled.wait(timeout)
        return self._granted

    def cancel(self) -> None:
        """End a request that still waits; a slot that was given already stays."""

    def release(self) -> None:
        """Give the slot back, or the request up. Doing so again does nothing."""

    def _settle(self, *, granted: bool) -> None:
        self._granted = granted
        self._settled.set()


class TaskLimiter(ABC):
    """Hands out slots, one for each batch from its poll to its completion."""

    @abstractmethod
    def request(self, topic: str) -> TaskToken:
        """Ask for a slot; the token tells when there is one."""

    @staticmethod
    def unlimited() -> "TaskLimiter":
        """Make a limiter that never waits."""
        return _Unlimited()

    @staticmethod
    def bounded(slots: int) -> "TaskLimiter":
        """Make a limiter of so many slots, first come, first served."""
        return _Slots(slots, lambda _: 0)

    @staticmethod
    def prioritizing(slots: int, priority: Callable[[str], int]) -> "TaskLimiter":
        """
        Make a limiter of so many slots, each of which goes to the waiting topic with the highest priority.

        The priority is asked for once for each request; equal ones are served in the order of their requests. A
        topic of low priority waits as long as higher ones want every slot.
        """
        return _Slots(slots, priority)


class _Unlimited(TaskLimiter):
    def request(self, topic: str) -> TaskToken:  # noqa: ARG002 - all alike
        token = TaskToken()
        token._settle(granted=True)  # noqa: SLF001 - the limiter's side of the token
        return token


class _Slots(TaskLimiter):
    def __init__(self, slots: int, priority: Callable[[str], int]) -> None:
        checked_number("slots", slots)
        self._priority = priority
        self._lock = threading.Lock()
        self._free = slots
        self._numbers = count()
        self._waiting: list[tuple[int, int, _SlotToken]] = []

    def request(self, topic: str) -> TaskToken:
        priority = self._priority(topic)
        token = _SlotToken(self)
        # Critical section: take a slot or queue up for one.
        with self._lock:
            if self._free:
                self._free -= 1
                token._settle(granted=True)  # noqa: SLF001 - the limiter's side of the token
            else:
                heapq.heappush(self._waiting, (-priority, next(self._numbers), token))
        return token

    def cancel(self, token: "_SlotToken") -> None:
        # Critical section: whoever leaves the queue never gets a slot.
        with self._lock:
            self._leave(token)

    def release(self, token: "_SlotToken") -> None:
        # Critical section: a slot that becomes free goes to the first in the queue at once.
        with self._lock:
            if self._leave(token) or token.released:
                return
            token.released = True
            if self._waiting:
                _, _, successor = heapq.heappop(self._waiting)
                successor._settle(granted=True)  # noqa: SLF001 - the limiter's side of the token
            else:
                self._free += 1

    def _leave(self, token: "_SlotToken") -> bool:
        staying = [entry for entry in self._waiting if entry[2] is not token]
        if len(staying) == len(self._waiting):
            return False
        heapq.heapify(staying)
        self._waiting = staying
        token.released = True
        token._settle(granted=False)  # noqa: SLF001 - the limiter's side of the token
        return True


class _SlotToken(TaskToken):
    def __init__(self, limiter: _Slots) -> None:
        super().__init__()
        self._limiter = limiter
        self.released = False

    def cancel(self) -> None:
        self._limiter.cancel(self)

    def release(self) -> None:
        self._limiter.release(self)
