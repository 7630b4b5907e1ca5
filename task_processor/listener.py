"""Watching what a processor does."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from task_api import Task, TaskDecision

from .statistics import Counters

__all__ = ["LOGGER", "Reporter", "TaskListener"]

LOGGER = logging.getLogger("task_processor")


class TaskListener:
    """
    Hears what a processor does; override what you need.

    A batch that is worked on synchronously gives on_start, on_callback, on_complete, on_dispatched; one whose
    handler raises on_start, on_error, on_dispatched; one whose completion fails on_start, on_callback, on_error,
    on_dispatched. Background work may be reported after on_dispatched, and polls ahead of it at any time. An error
    raised here is logged and affects nothing.
    """

    def on_fatal(self, topic: str, error: BaseException) -> None:
        """Something failed beside the work on tasks: a poll, a transaction, the limiter, the handler's making."""

    def on_empty(self, topic: str) -> None:
        """A poll found nothing."""

    def on_start(self, topic: str, tasks: Sequence[Task]) -> Any:  # noqa: ANN401 - the listener's own
        """A batch was polled, and its turn has come; what this returns is handed to all later calls about it."""

    def on_dispatched(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """The handler returned or raised."""

    def on_callback(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """The work is done, and the transaction that decides it is about to begin."""

    def on_complete(self, topic: str, trace: Any, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ANN401
        """The decisions were committed."""

    def on_error(self, topic: str, trace: Any, tasks: Sequence[Task], error: BaseException) -> None:  # noqa: ANN401
        """The whole batch failed."""

    def on_lost(self, topic: str, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """These tasks of the batch are held by others now; the rest was given back to be polled again."""


class Reporter:
    """Counts what happens on one topic, and tells a listener, none of whose errors it lets through."""

    def __init__(self, topic: str, listener: TaskListener) -> None:
        self._topic = topic
        self._listener = listener
        self.counters = Counters()

    def polled(self) -> None:
        """Count a poll that succeeded."""
        self.counters.polled()

    def fatal(self, error: BaseException) -> None:
        """Report a failure beside the work on tasks."""
        # Once with its trace, and then briefly: a database may be away for hours.
        trace = error if self.counters.last_error is None else None
        LOGGER.warning("topic %r: %r", self._topic, error, exc_info=trace)
        self.counters.failed(error)
        self._tell(self._listener.on_fatal, error)

    def empty(self) -> None:
        """Report a poll that found nothing."""
        self._tell(self._listener.on_empty)

    def start(self, tasks: Sequence[Task]) -> Any:  # noqa: ANN401 - the listener's own
        """Report a polled batch and return the trace."""
        return self._tell(self._listener.on_start, tasks)

    def dispatched(self, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Report that the handler returned."""
        self._tell(self._listener.on_dispatched, trace, tasks)

    def callback(self, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Report that the decision begins."""
        self._tell(self._listener.on_callback, trace, tasks)

    def complete(self, trace: Any, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ANN401
        """Report committed decisions."""
        self.counters.decided(decisions)
        self._tell(self._listener.on_complete, trace, decisions)

    def error(
        self,
        trace: Any,  # noqa: ANN401
        tasks: Sequence[Task],
        error: BaseException,
        decisions: Mapping[Task, TaskDecision] | None = None,
    ) -> None:
        """Report a batch that failed, and what was committed about it, if anything."""
        if decisions:
            self.counters.decided(decisions)
        self._tell(self._listener.on_error, trace, tasks, error)

    def lost(self, trace: Any, tasks: Sequence[Task]) -> None:  # noqa: ANN401
        """Report tasks that others hold now."""
        self.counters.lost(tasks)
        self._tell(self._listener.on_lost, trace, tasks)

    def _tell(self, method: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        try:
            return method(self._topic, *arguments)
        except BaseException:
            LOGGER.exception("a listener of topic %r raised", self._topic)
            return None
