"""The one outcome that a batch can have."""

import threading
from collections.abc import Mapping

from task_api import Task, TaskDecision

from .listener import LOGGER

__all__ = ["Decided", "FirstOutcome"]


class Decided:
    """A completion whose decisions were made before: there is nothing that it does to the transaction."""

    def __init__(self, decisions: Mapping[Task, TaskDecision]) -> None:
        self._decisions = decisions

    def __call__(self, _: object) -> Mapping[Task, TaskDecision]:
        """Give the decisions."""
        return self._decisions

    @property
    def plain(self) -> bool:
        """Whether no decision has a text, which is all that a database could object to."""
        decisions = self._decisions.values()
        different = dict(zip(map(id, decisions), decisions, strict=True))
        return all(decision.message is None and decision.exception is None for decision in different.values())


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
