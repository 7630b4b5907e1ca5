"""The one outcome that a batch can have."""

import threading

from .listener import LOGGER

__all__ = ["FirstOutcome"]


class FirstOutcome:
    """Lets the first outcome of a batch through, and logs any other."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._lock = threading.Lock()
        self._decided = False

    @property
    def taken(self) -> bool:
        """Whether there is one already."""
        return self._decided

    def take(self, outcome: str, error: BaseException | None = None) -> bool:
        """Tell whether this outcome is the first."""
        with self._lock:
            first, self._decided = not self._decided, True
        if not first:
            LOGGER.warning(
                "topic %r: ignored a %s, the batch has its outcome already", self._topic, outcome, exc_info=error
            )
        return first
