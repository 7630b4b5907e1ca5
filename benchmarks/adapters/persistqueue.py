"""persist-queue, in a loop of our own."""

import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from persistqueue import Empty, SQLiteAckQueue

from .adapter import BATCH, QUEUE, Adapter
from .work import Work

__all__ = ["PersistQueue"]

_IDLE: Final = 0.005


class PersistQueue(Adapter):
    """Gets an item, handles it, and acknowledges it."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        folder = str(Path(target).parent)
        self._queue = SQLiteAckQueue(folder, name=QUEUE, multithreading=False, auto_resume=False, timeout=30)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Put."""
        for payload in payloads:
            self._queue.put(payload)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Put one by one: there is no call for many."""
        self.push_one(chain.from_iterable(batches))

    def work(self, work: Work) -> None:
        """Get, handle, acknowledge."""
        work.ready()
        work.begin()
        while not work.stopping.is_set():
            try:
                item = self._queue.get(block=False)
            except Empty:
                time.sleep(_IDLE)
                continue
            work.handle(item)
            self._queue.ack(item)
            work.mark()

    def unfinished(self) -> int | None:
        """Ask for its sizes."""
        return int(self._queue.qsize()) + int(self._queue.unack_count())
