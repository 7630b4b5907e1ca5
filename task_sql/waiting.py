"""Waiting until a task is decided: one algorithm for all databases."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, Final

from task_api import Listing, NamedTask, Task, TaskInfo, TaskRef, TaskState, TaskStateError
from task_api.task import checked_ref

from .alarm import Alarm, engine_of
from .arguments import checked_timeout
from .base import T
from .lister import SqlTaskLister

__all__ = ["Patience", "SqlWaiting"]

_DECIDED: Final = frozenset({TaskState.FAILED, TaskState.FILTERED, TaskState.SUCCEEDED, TaskState.REDUNDANT})
"""The states that a task stays in unless somebody brings it back."""
_SHORTEST: Final = 0.01
_LONGEST: Final = 0.25
_ALARMED: Final = 1.0
"""Seconds between two looks at a task, also if there is an alarm."""
_COPIES: Final = 50


class Patience:
    """How long to pause between two looks at a task, and when to give up."""

    def __init__(self, ref: TaskRef, timeout: timedelta | None) -> None:
        self._complaint = f"task {ref.sequence} of topic {ref.topic!r} was not decided within {timeout}"
        seconds = float("inf") if timeout is None else checked_timeout(timeout).total_seconds()
        self._deadline = time.monotonic() + seconds
        self._pause = _SHORTEST

    def pause(self, *, alarmed: bool) -> float:
        """Return the seconds to pause, which grow unless an alarm will ring."""
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError(self._complaint)
        self._pause = min(self._pause * 2, _LONGEST)
        return min(remaining, _ALARMED if alarmed else self._pause)


class SqlWaiting(SqlTaskLister[T]):
    """Waits for decisions."""

    def wait(
        self,
        dispatcher: Callable[[], AbstractContextManager[Any]],
        ref: NamedTask,
        timeout: timedelta | None = None,
    ) -> TaskInfo:
        """Return a task as soon as it is decided; see `TaskDependencies.wait`."""
        named = checked_ref(ref)
        patience = Patience(named, timeout)
        rung = threading.Event()
        alarm = Alarm(named.topic, rung.set)
        try:
            while True:
                with dispatcher() as tx:
                    info, named = self.look(tx, named)
                    engine = engine_of(tx)
                if info:
                    return info
                pause = patience.pause(alarmed=alarm.set_up)
                if not alarm.listen(engine):
                    rung.wait(pause)
                    rung.clear()
        finally:
            alarm.close()

    def look(self, tx: T, ref: TaskRef) -> tuple[TaskInfo | None, TaskRef]:
        """Return a task if it is decided, and whom to wait for; ask to be woken if it is not."""
        info = self.task(tx, ref.topic, ref.sequence)
        while info is not None and info.state is TaskState.RECREATED:
            info = self._copy_of(tx, info)
        if info is None:
            raise TaskStateError(ref.topic, [Task(ref.sequence, "?")])
        ref = TaskRef(info.topic, info.sequence)
        if info.state in _DECIDED:
            return info, ref
        if expect := self._statements.dependency.expect:
            transaction, layout = self._open(tx)
            given = {"topic": ref.topic, "sequence": ref.sequence, "notify": layout.notify}
            transaction.run(expect, given)
        return None, ref

    def _copy_of(self, tx: T, original: TaskInfo) -> TaskInfo | None:
        start: int | None = original.sequence
        while start is not None:
            page = self.page(
                tx, original.topic, start=start, size=_COPIES, listing=Listing(identifier=original.identifier)
            )
            for info in page:
                if info.origin == original.sequence:
                    return info
            start = page[-1].sequence if page else None
        return None
