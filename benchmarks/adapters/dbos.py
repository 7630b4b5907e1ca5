"""dbos: workflows that a client enqueues and an application runs."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import sqlalchemy
from dbos import DBOS, DBOSClient

from .adapter import QUEUE, Adapter
from .work import Work

__all__ = ["Dbos"]

logging.disable(logging.WARNING)

_POLLING: Final = 0.02
_CONCURRENCY: Final = 1000
_THREADS: Final = 16
_OPTIONS: Final = {"queue_name": QUEUE, "workflow_name": "handle", "app_version": "1"}

_works: list[Work] = []


class Dbos(Adapter):
    """One application in a process."""

    def setup(self) -> None:
        """Launch it once, which creates the tables, and register the queue."""
        self._launch()
        DBOS.register_queue(QUEUE, worker_concurrency=_CONCURRENCY, polling_interval_sec=_POLLING)
        DBOS.destroy()

    def push_one(self, payloads: Iterable[str]) -> None:
        """Enqueue."""
        with self._client() as client:
            for payload in payloads:
                client.enqueue(dict(_OPTIONS), payload)

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Enqueue many in one transaction: there is no call for it."""
        engine = sqlalchemy.create_engine(self._url)
        with self._client() as client:
            for batch in batches:
                with engine.begin() as connection:
                    for payload in batch:
                        client.enqueue_in_transaction(connection, dict(_OPTIONS), payload)
        engine.dispose()

    def work(self, work: Work) -> None:
        """Launch the application until it is stopped."""
        _works[:] = [work]
        work.ready()
        self._launch()
        work.stopping.wait()
        DBOS.destroy(workflow_completion_timeout_sec=10)

    @property
    def _url(self) -> str:
        return self.target.replace("postgresql://", "postgresql+psycopg://")

    @contextmanager
    def _client(self) -> Iterator[DBOSClient]:
        client = DBOSClient(system_database_url=self._url, application_name="benchmark")
        try:
            yield client
        finally:
            client.destroy()

    def _launch(self) -> None:
        DBOS(
            config={
                "name": "benchmark",
                "system_database_url": self._url,
                "run_admin_server": False,
                "log_level": "ERROR",
                "executor_id": f"executor-{os.getpid()}",
                "application_version": "1",
                "max_executor_threads": _THREADS,
            }
        )
        DBOS.workflow(name="handle")(_handle)
        DBOS.launch()


def _handle(p: str) -> None:
    _works[0].handle(p)
