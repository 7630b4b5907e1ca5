"""What a processor has done so far, in numbers."""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from task_api import Task, TaskDecision, TaskResult
from task_api.decision import different_decisions

__all__ = ["Counters", "TopicStatistics"]


@dataclass(frozen=True, slots=True)
class TopicStatistics:
    """What became of the tasks of one topic in this process, as of one moment. Times are this machine's."""

    topic: str
    """The topic."""
    active: bool = False
    """Whether its processor runs."""
    batches: int = 0
    """How many batches are under way."""
    tasks: int = 0
    """How many tasks are in them."""
    completed: int = 0
    """How many tasks were decided, whatever the result."""
    failed: int = 0
    """How many of them failed for good."""
    retried: int = 0
    """How many of them failed and will be tried again."""
    lost: int = 0
    """How many tasks were lost to others while they were worked on."""
    errors: int = 0
    """How often something failed beside the work on tasks."""
    revived: int = 0
    """How many expired tasks the worker brought back."""
    promoted: int = 0
    """How many suspended tasks the worker made READY because they were due."""
    last_poll: datetime | None = None
    """When the last poll succeeded."""
    last_completion: datetime | None = None
    """When tasks were last decided."""
    last_error: str | None = None
    """What failed last beside the work on tasks, unless a poll has succeeded since."""


class Counters:
    """The numbers of one processor while it works; safe for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._completed = self._failed = self._retried = self._lost = self._errors = 0
        self._last_poll: datetime | None = None
        self._last_completion: datetime | None = None
        self._last_error: BaseException | None = None

    @property
    def last_error(self) -> BaseException | None:
        """What failed last beside the work on tasks, unless a poll has succeeded since."""
        return self._last_error

    def polled(self) -> None:
        """Count a poll that succeeded."""
        with self._lock:
            self._last_poll = _now()
            self._last_error = None

    def decided(self, decisions: Mapping[Task, TaskDecision]) -> None:
        """Count decisions that were committed."""
        failures = list[TaskDecision]()
        if any(decision.result is TaskResult.FAILURE for decision in different_decisions(decisions.values())):
            failures = [decision for decision in decisions.values() if decision.result is TaskResult.FAILURE]
        final = sum(decision.due is None for decision in failures)
        with self._lock:
            self._completed += len(decisions)
            self._failed += final
            self._retried += len(failures) - final
            self._last_completion = _now()

    def lost(self, tasks: Collection[Task]) -> None:
        """Count tasks that others hold now."""
        with self._lock:
            self._lost += len(tasks)

    def failed(self, error: BaseException) -> None:
        """Count something that failed beside the work on tasks."""
        with self._lock:
            self._errors += 1
            self._last_error = error

    def snapshot(self, topic: str, *, active: bool, batches: int, tasks: int) -> TopicStatistics:
        """Return all numbers as of now."""
        with self._lock:
            return TopicStatistics(
                topic,
                active,
                batches,
                tasks,
                completed=self._completed,
                failed=self._failed,
                retried=self._retried,
                lost=self._lost,
                errors=self._errors,
                last_poll=self._last_poll,
                last_completion=self._last_completion,
                last_error=None if self._last_error is None else repr(self._last_error),
            )


def _now() -> datetime:
    return datetime.now(UTC)
