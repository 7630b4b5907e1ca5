"""litequeue, in a loop of our own."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from litequeue import LiteQueue

from .adapter import BATCH, Adapter
from .work import Work

__all__ = ["Lite"]

_IDLE: Final = 0.005


class Lite(Adapter):
    """Takes a message, handles it, and marks it as done."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._queue = LiteQueue(target)
        self._queue.conn.execute("PRAGMA busy_timeout = 30000")

    def push_one(self, payloads: Iterable[str]) -> None:
        """Put."""
        for payload in payloads:
            self._queue.put(payload)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Put many in one transaction."""
        for batch in batches:
            with self._queue.transaction(mode="IMMEDIATE"):
                for payload in batch:
                    self._queue.put(payload)

    def work(self, work: Work) -> None:
        """Pop, handle, done."""
        work.ready()
        work.begin()
        while not work.stopping.is_set():
            message = self._queue.pop()
            if message is None:
                time.sleep(_IDLE)
                continue
            work.handle(message.data)
            self._queue.done(message.message_id)
            work.mark()

    def unfinished(self) -> int | None:
        """Ask for its size."""
        return int(self._queue.qsize())

    def close(self) -> None:
        """Close it."""
        self._queue.close()
