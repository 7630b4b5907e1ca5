"""procrastinate with an asynchronous worker."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Final

import procrastinate

from .adapter import QUEUE, Adapter
from .work import Work

__all__ = ["Procrastinate"]

logging.disable(logging.WARNING)

_CONCURRENCY: Final = 10


class Procrastinate(Adapter):
    """Jobs are kept when they have succeeded."""

    def setup(self) -> None:
        """Apply its schema."""
        with self._synchronous().open() as app:
            app.schema_manager.apply_schema()

    def push_one(self, payloads: Iterable[str]) -> None:
        """Defer."""
        app = self._synchronous()
        task = app.task(name="handle", queue=QUEUE)(_nothing)
        with app.open():
            for payload in payloads:
                task.defer(p=payload)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Defer many."""
        app = self._synchronous()
        task = app.task(name="handle", queue=QUEUE)(_nothing)
        with app.open():
            for batch in batches:
                task.batch_defer(*({"p": payload} for payload in batch))

    def work(self, work: Work) -> None:
        """Run a worker until it is cancelled."""

        async def handle(p: str) -> None:
            work.handle(p)

        async def main() -> None:
            connector = procrastinate.PsycopgConnector(
                conninfo=self.target, min_size=_CONCURRENCY, max_size=_CONCURRENCY
            )
            app = procrastinate.App(connector=connector)
            app.task(name="handle", queue=QUEUE)(handle)
            async with app.open_async():
                loop = asyncio.get_running_loop()
                work.ready()
                worker = loop.create_task(
                    app.run_worker_async(
                        queues=[QUEUE],
                        concurrency=_CONCURRENCY,
                        install_signal_handlers=False,
                        shutdown_graceful_timeout=10,
                    )
                )
                work.on_stop.append(lambda: loop.call_soon_threadsafe(worker.cancel))
                await asyncio.wait([worker])

        asyncio.run(main())

    def unfinished(self) -> int | None:
        """Ask for its queues."""
        with self._synchronous().open() as app:
            queues = app.job_manager.list_queues()
        return sum(int(queue["todo"]) + int(queue["doing"]) for queue in queues)

    def _synchronous(self) -> procrastinate.App:
        connector = procrastinate.SyncPsycopgConnector(conninfo=self.target, min_size=1, max_size=2)
        return procrastinate.App(connector=connector)


def _nothing(p: str) -> None:
    """Stand for the task where it is only deferred."""
