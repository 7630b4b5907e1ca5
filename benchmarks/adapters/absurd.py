"""absurd, by the schema that ``absurdctl`` brings and the worker of ``absurd-sdk``."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import psycopg
from absurd_sdk import Absurd
from absurdctl import BUNDLED_SCHEMA_SQL

from .adapter import QUEUE, Adapter
from .work import Work

__all__ = ["AbsurdAdapter"]

_BATCH: Final = 100
_POLLING: Final = 0.01


class AbsurdAdapter(Adapter):
    """Its synchronous worker."""

    def setup(self) -> None:
        """Install it and create the queue."""
        with psycopg.connect(self.target, autocommit=True) as connection:
            connection.execute(BUNDLED_SCHEMA_SQL)
        app = Absurd(self.target, queue_name=QUEUE)
        app.create_queue(QUEUE)
        app.close()

    def push_one(self, payloads: Iterable[str]) -> None:
        """Spawn."""
        app = Absurd(self.target, queue_name=QUEUE)
        for payload in payloads:
            app.spawn("handle", {"p": payload}, queue=QUEUE)
        app.close()

    def push_bulk(self, batches: Iterable[Sequence[str]]) -> None:
        """Spawn many in one transaction: there is no call for it."""
        with psycopg.connect(self.target, autocommit=True) as connection:
            app = Absurd(connection, queue_name=QUEUE)
            for batch in batches:
                with connection.transaction():
                    for payload in batch:
                        app.spawn("handle", {"p": payload}, queue=QUEUE)

    def work(self, work: Work) -> None:
        """Run a worker until it is stopped."""
        app = Absurd(self.target, queue_name=QUEUE)

        def handle(parameters: dict[str, str], context: Any) -> None:  # noqa: ARG001, ANN401 - as it is called
            work.handle(parameters["p"])

        app.register_task("handle")(handle)
        work.on_stop.append(app.stop_worker)
        work.ready()
        app.start_worker(concurrency=1, batch_size=_BATCH, poll_interval=_POLLING)
        app.close()
