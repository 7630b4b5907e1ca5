"""
Push from an asyncio web application, in the request's own transaction; a worker elsewhere does what follows.

``create_order`` is what an endpoint of FastAPI or the like would be, with its session injected. The order and its task
are stored together, or neither is: there is no order without confirmation, and no confirmation without an order. Needs
``pip install ".[asyncio]"``, in the folder of topiq's source.

Run it as it is, on SQLite, or with the URL of an empty database: ``python asyncio_producer.py postgresql://...``.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from task_api import Task, TaskCreation, TaskDecision
from task_processor import TaskListener, TaskManager, Worker, each
from task_sql import (
    AsyncTaskRepository,
    create_engine,
    create_notifier,
    create_repository,
    prepare_sqlite,
    schema,
)

TOPIC = "confirmations"


class OutOfStockError(Exception):
    """What a request fails with."""


async def create_order(session: AsyncSession, tasks: AsyncTaskRepository, number: int, item: str) -> int:
    """Store an order and push its task, all in the session's transaction; give the task's number."""
    values = {"number": number, "item": item}
    await session.execute(text("INSERT INTO orders (number, item) VALUES (:number, :item)"), values)
    task = await tasks.push(session, TOPIC, TaskCreation(str(number), input=item))
    if item == "unicorn":
        message = f"there is no {item}"
        raise OutOfStockError(message)
    return task.sequence


async def request(engine: AsyncEngine, tasks: AsyncTaskRepository, number: int, item: str) -> str:
    """What the framework does around an endpoint: a session, committed unless the endpoint raises."""
    try:
        async with AsyncSession(engine) as session, session.begin():
            await create_order(session, tasks, number, item)
    except OutOfStockError as error:
        return f"409 {error}"
    return f"201 order {number}"


async def serve(url: str) -> list[str]:
    """Serve some requests at once."""
    engine = create_async_engine(asynchronous(url))
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine.sync_engine)
    tasks = AsyncTaskRepository(create_repository(engine))
    try:
        items = ("apple", "unicorn", "pear", "plum")
        return await asyncio.gather(*(request(engine, tasks, *order) for order in enumerate(items, 1)))
    finally:
        await engine.dispose()


def confirm(task: Task, tx: Connection) -> None:
    """Confirm an order, in the transaction that decides the task."""
    tx.execute(text("UPDATE orders SET confirmed = 1 WHERE number = :number"), {"number": int(task.identifier)})


class Countdown(TaskListener):
    """Tells when so many tasks are decided."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.done = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Count."""
        self.left -= len(decisions)
        if not self.left:
            self.done.set()


def main(url: str) -> None:
    """Take orders, and confirm them."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tx.execute(text("CREATE TABLE orders (number INTEGER PRIMARY KEY, item VARCHAR(20), confirmed INTEGER)"))
        tasks.initialize(tx, TOPIC)

    countdown = Countdown(3)
    manager = TaskManager(TOPIC, tasks, engine.begin, each(confirm), listener=countdown)
    # Usually a process of its own; here it runs beside the application.
    with Worker(tasks, engine.begin, [manager], notifier=create_notifier(engine)):
        for answer in asyncio.run(serve(url)):
            print(answer)
        countdown.done.wait(30)

    with engine.begin() as tx:
        for number, item, confirmed in tx.execute(text("SELECT number, item, confirmed FROM orders ORDER BY number")):
            print(f"order {number}: {item}{', confirmed' if confirmed else ''}")
    engine.dispose()


def asynchronous(url: str) -> str:
    """The same database through a driver for asyncio."""
    parsed = make_url(url)
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
    return parsed.set(drivername=drivers[parsed.get_backend_name()]).render_as_string(hide_password=False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'asyncio.db'}")
