"""huey on SQLite, with its consumer."""

import logging
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from huey import SqliteHuey

from .adapter import BATCH, QUEUE, Adapter
from .work import Work

__all__ = ["Huey"]

logging.disable(logging.WARNING)

_POLLING: Final = 0.01

_works: list[Work] = []


class Huey(Adapter):
    """One worker thread in a process."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._huey = SqliteHuey(QUEUE, filename=target, fsync=False, results=False, timeout=30)
        self._task = self._huey.task(name="handle")(_handle)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Call the task."""
        for payload in payloads:
            self._task(payload)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Call it one by one: there is no call for many."""
        self.push_one(chain.from_iterable(batches))

    def work(self, work: Work) -> None:
        """Run a consumer until it is stopped."""
        _works[:] = [work]
        consumer = self._huey.create_consumer(
            workers=1, periodic=False, initial_delay=_POLLING, max_delay=_POLLING, backoff=1, check_worker_health=False
        )
        work.ready()
        consumer.start()
        work.stopping.wait()
        consumer.stop(graceful=True)

    def unfinished(self) -> int | None:
        """Ask for what is pending."""
        return int(self._huey.pending_count())


def _handle(p: str) -> None:
    _works[0].handle(p)
