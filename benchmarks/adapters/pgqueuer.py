"""pgqueuer on asyncpg and uvloop, as in its own benchmark."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

from .adapter import QUEUE, Adapter
from .work import Work

__all__ = ["Pgqueuer"]

logging.disable(logging.WARNING)


class Pgqueuer(Adapter):
    """Its own queue manager."""

    def setup(self) -> None:
        """Install it."""

        async def install(queries: Queries) -> None:
            await queries.install()

        self._run(install)

    def push_one(self, payloads: Iterable[str]) -> None:
        """Enqueue."""

        async def push(queries: Queries) -> None:
            for payload in payloads:
                await queries.enqueue(QUEUE, payload.encode())

        self._run(push)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Enqueue lists."""

        async def push(queries: Queries) -> None:
            for batch in batches:
                number = len(batch)
                await queries.enqueue([QUEUE] * number, [payload.encode() for payload in batch], [0] * number)

        self._run(push)

    def work(self, work: Work) -> None:
        """Run the manager until it is shut down."""

        async def manage(queries: Queries) -> None:
            manager = QueueManager(queries)

            async def handle(job: Job) -> None:
                work.handle(job.payload.decode())

            manager.entrypoint(QUEUE)(handle)
            loop = asyncio.get_running_loop()
            work.on_stop.append(lambda: loop.call_soon_threadsafe(manager.shutdown.set))
            work.ready()
            await manager.run(batch_size=self.batch, dequeue_timeout=timedelta(seconds=1))

        self._run(manage)

    def unfinished(self) -> int | None:
        """Ask for the size of the queue."""
        sizes: list[int] = []

        async def ask(queries: Queries) -> None:
            sizes.extend(statistic.count for statistic in await queries.queue_size())

        self._run(ask)
        return sum(sizes)

    def _run(self, function: Callable[[Queries], Awaitable[None]]) -> None:
        async def main() -> None:
            connection = await asyncpg.connect(self.target)
            try:
                await function(Queries(AsyncpgDriver(connection)))
            finally:
                await connection.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
