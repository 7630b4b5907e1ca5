"""chancy with its asynchronous executor."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Final

import chancy

from .adapter import BATCH, QUEUE, Adapter
from .work import Work

__all__ = ["ChancyAdapter", "handle"]

_LOGGER: Final = logging.getLogger("benchmark-chancy")
_LOGGER.setLevel(logging.ERROR)
_FLUSH: Final = 0.05

_works: list[Work] = []


async def handle(*, p: str) -> None:
    """Work on a task; chancy finds it by its name."""
    _works[0].handle(p)


class ChancyAdapter(Adapter):
    """One worker, its default plugins off."""

    def setup(self) -> None:
        """Migrate and declare the queue."""

        async def main() -> None:
            async with self._app() as app:
                await app.migrate()
                queue = chancy.Queue(
                    QUEUE,
                    concurrency=BATCH,
                    executor=chancy.Chancy.Executor.Async,
                    polling_interval=1,
                    eager_polling=True,
                )
                await app.declare(queue)

        asyncio.run(main())

    def push_one(self, payloads: Iterable[str]) -> None:
        """Push."""
        with self._app() as app:
            for payload in payloads:
                app.sync_push(_job(payload))

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Push many."""
        with self._app() as app:
            for batch in batches:
                for _ in app.sync_push_many([_job(payload) for payload in batch], batch_size=len(batch)):
                    pass

    def work(self, work: Work) -> None:
        """Run a worker until it is stopped."""
        _works[:] = [work]

        async def main() -> None:
            async with self._app() as app:
                worker = chancy.Worker(app, register_signal_handlers=False)
                worker.send_outgoing_interval = _FLUSH
                loop, stop = asyncio.get_running_loop(), asyncio.Event()
                work.on_stop.append(lambda: loop.call_soon_threadsafe(stop.set))
                work.ready()
                await worker.start()
                await stop.wait()
                await worker.stop()

        asyncio.run(main())

    def _app(self) -> chancy.Chancy:
        return chancy.Chancy(self.target, log=_LOGGER, no_default_plugins=True)


def _job(payload: str) -> chancy.Job:
    return chancy.Job.from_func(handle, queue=QUEUE, kwargs={"p": payload})
