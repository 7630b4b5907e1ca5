"""celery on the SQLAlchemy transport of kombu, which its authors call experimental."""

import contextlib
import logging
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import kombu
import kombu.transport.sqlalchemy
from celery import Celery
from celery.worker import state

from .adapter import QUEUE, Adapter
from .work import Work

__all__ = ["CeleryAdapter"]

_POLLING: Final = 0.01
_PREFETCH: Final = 100

_works: list[Work] = []


class CeleryAdapter(Adapter):
    """A worker with the solo pool."""

    def setup(self) -> None:
        """Declare the queue, which creates the tables."""
        with self._app().connection_for_write() as connection:
            kombu.Queue(QUEUE, channel=connection.default_channel).declare()

    def push_one(self, payloads: Iterable[str]) -> None:
        """Apply."""
        app = self._app()
        with app.producer_or_acquire() as producer:
            for payload in payloads:
                app.tasks["handle"].apply_async((payload,), producer=producer)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Apply one by one: there is no call for many."""
        self.push_one(chain.from_iterable(batches))

    def work(self, work: Work) -> None:
        """Run a worker until it is told to stop."""
        _works[:] = [work]
        kombu.transport.sqlalchemy.Transport.polling_interval = _POLLING

        def stop() -> None:
            state.should_stop = 0

        work.on_stop.append(stop)
        app = self._app()
        work.ready()
        quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=CRITICAL")
        with contextlib.suppress(SystemExit):
            app.worker_main(["worker", "--pool=solo", *quiet])
        logging.shutdown()

    def _app(self) -> Celery:
        broker = "sqla+" + self.target.replace("postgresql://", "postgresql+psycopg://")
        app = Celery("benchmark", broker=broker)
        app.conf.update(
            task_ignore_result=True,
            task_default_queue=QUEUE,
            worker_prefetch_multiplier=_PREFETCH,
            broker_connection_retry_on_startup=False,
            worker_hijack_root_logger=False,
            worker_send_task_events=False,
            worker_redirect_stdouts=False,
        )
        app.task(name="handle")(_handle)
        return app


def _handle(p: str) -> None:
    _works[0].handle(p)
