"""pgmq, by the SQL that its package brings and the client in it."""

import logging
from collections.abc import Iterable, Sequence
from typing import Final

import psycopg
from pgmq import PGMQueue
from pgmq.install import get_embedded_install_sql
from psycopg_pool import ConnectionPool

from .adapter import BATCH, QUEUE, Adapter
from .work import Work

__all__ = ["Pgmq", "PgmqDelete"]

logging.disable(logging.WARNING)

_INVISIBLE: Final = 60
_CHANNEL: Final = f"pgmq.q_{QUEUE}.INSERT"


class Pgmq(Adapter):
    """Reads batches and moves them to its archive."""

    def __init__(self, target: str, *, batch: int = BATCH) -> None:
        super().__init__(target, batch=batch)
        self._pool = ConnectionPool(target, min_size=1, max_size=2, open=True)
        self.client = PGMQueue(pool=self._pool, init_extension=False)

    def setup(self) -> None:
        """Install it and create the queue."""
        with psycopg.connect(self.target, autocommit=True) as connection:
            connection.execute(get_embedded_install_sql())
        self.client.create_queue(QUEUE)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Send."""
        for payload in payloads:
            self.client.send(QUEUE, {"p": payload})

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Send many."""
        for batch in batches:
            self.client.send_batch(QUEUE, [{"p": payload} for payload in batch])

    def work(self, work: Work) -> None:
        """Read, handle, archive; wait for a notification where there is nothing."""
        with psycopg.connect(self.target, autocommit=True) as listener:
            if work.latency:
                self.client.enable_notify(QUEUE, 0)
                listener.execute(f'LISTEN "{_CHANNEL}"')
            work.ready()
            work.begin()
            while not work.stopping.is_set():
                messages = self.client.read_batch(QUEUE, vt=_INVISIBLE, batch_size=self.batch)
                if not messages:
                    for _ in listener.notifies(timeout=0.2, stop_after=1):
                        pass
                    continue
                for message in messages:
                    work.handle(message.message["p"])
                self.finish([message.msg_id for message in messages])
                work.mark()

    def finish(self, keys: list[int]) -> None:
        """Keep them in the archive."""
        self.client.archive_batch(QUEUE, keys)

    def unfinished(self) -> int | None:
        """Ask for its metrics."""
        return int(self.client.metrics(QUEUE).queue_length)

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()


class PgmqDelete(Pgmq):
    """Deletes what is finished."""

    def finish(self, keys: list[int]) -> None:
        """Delete."""
        self.client.delete_batch(QUEUE, keys)
