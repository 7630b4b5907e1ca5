"""Telling processors what is new."""

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from task_api import InvalidTaskError, Notifiable

from .backoff import backoff
from .reporting import Report

__all__ = ["Switchboard"]

_NEVER: Final = threading.TIMEOUT_MAX


@dataclass(slots=True)
class _Errand:
    """A processor that is to do as is stored."""

    processor: Notifiable
    due: float
    failures: int = 0


class Switchboard:
    """
    Tells processors, by topic.

    They are resumed on the caller's thread, which takes no time. Starting and stopping may take long, and so may
    reading what is stored: that is done on a thread of its own, one processor after the other, and again when it
    failed. Errors of processors are reported and affect nothing else.
    """

    def __init__(self, processors: Iterable[Notifiable], report: Report) -> None:
        if not isinstance(processors, Iterable):
            message = f"processors are an iterable of processors, not {type(processors).__name__}"
            raise InvalidTaskError(message)
        self._processors: defaultdict[str, list[Notifiable]] = defaultdict(list)
        for processor in processors:
            self._processors[processor.topic].append(processor)
        self._report = report
        self._changed = threading.Condition()
        self._closed = False
        self._errands: dict[int, _Errand] = {}
        self._ending: set[int] = set()
        self._thread = threading.Thread(target=self._main, name="task-notifier-activation", daemon=True)
        self._thread.start()

    @property
    def topics(self) -> frozenset[str]:
        """The topics of the processors."""
        return frozenset(self._processors)

    def work(self, topic: str) -> None:
        """Resume who works on the topic."""
        for processor in self._processors.get(topic, ()):
            self._resume(processor)

    def commit(self) -> None:
        """Resume who wants to look after every commit, where no more is known of it."""
        for processors in self._processors.values():
            for processor in processors:
                if getattr(processor, "any_commit", False):
                    self._resume(processor)

    def activation(self, topic: str) -> None:
        """Let who works on the topic start or stop as is stored."""
        for processor in self._processors.get(topic, ()):
            self._plan(processor)

    def everything(self) -> None:
        """Resume all, and let each start or stop as is stored: for what was missed."""
        for topic in self._processors:
            self.activation(topic)
            self.work(topic)

    def close(self) -> None:
        """Tell nobody any more."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def join(self, timeout: float | None) -> bool:
        """Wait for a start or stop that is under way; tell whether it ended in time."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
            return not self._thread.is_alive()
        return True

    def _resume(self, processor: Notifiable) -> None:
        if self._closed:
            return
        try:
            processor.resume()
        except BaseException as error:  # noqa: BLE001 - reported
            self._report(error)

    def _plan(self, processor: Notifiable, delay: float = 0.0, failures: int = 0) -> None:
        with self._changed:
            # Critical section: an errand that waits to be done again is done now, unless this is that wait.
            if self._closed or (failures and id(processor) in self._errands):
                return
            self._errands[id(processor)] = _Errand(processor, monotonic() + delay, failures)
            self._changed.notify()

    def _main(self) -> None:
        while (errand := self._next()) is not None:
            try:
                self._obey(errand.processor)
            except BaseException as error:  # noqa: BLE001 - reported, and tried again
                self._report(error)
                failures = errand.failures + 1
                self._plan(errand.processor, backoff(failures), failures)

    def _next(self) -> _Errand | None:
        """Wait for an errand that is due; None when there will be no more."""
        with self._changed:
            while not self._closed:
                first = min(self._errands.values(), key=lambda errand: errand.due, default=None)
                wait = _NEVER if first is None else first.due - monotonic()
                if first is not None and wait <= 0:
                    return self._errands.pop(id(first.processor))
                self._changed.wait(wait)
            return None

    def _obey(self, processor: Notifiable) -> None:
        activation = processor.activation
        if self._closed or activation is None:
            return
        if activation and (not processor.active or id(processor) in self._ending):
            processor.initialize()
        elif not activation and processor.active:
            # It may take longer than it is waited for: until it is done, one that is active is not one that goes on.
            self._ending.add(id(processor))
            processor.shutdown()
        self._ending.discard(id(processor))
