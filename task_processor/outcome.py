"""The one outcome that a batch can have."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from task_api import Task, TaskDecision
from task_api.decision import different_decisions

from .listener import LOGGER

__all__ = ["Decided", "FirstOutcome", "has_outcome"]


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
        different = different_decisions(self._decisions.values())
        return all(decision.message is None and decision.exception is None for decision in different)


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

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """What is called inside, and whatever goes on in a copy of its context, works for this outcome."""
        token = _AWAITED.set(self)
        try:
            yield
        finally:
            _AWAITED.reset(token)

    def take(self, outcome: str, error: BaseException | None = None) -> bool:
        """Tell whether this outcome is the first."""
        with self._lock:
            first, self._decided = not self._decided, True
        if not first:
            LOGGER.warning(
                "topic %r: ignored a %s, the batch has its outcome already", self._topic, outcome, exc_info=error
            )
        return first


_AWAITED: ContextVar[FirstOutcome | None] = ContextVar("task_processor_outcome", default=None)


def has_outcome() -> bool:
    """Tell whether the batch that the caller works on has its outcome already: it may have been given back."""
    outcome = _AWAITED.get()
    return outcome is not None and outcome.taken
