"""
Work on whole batches, several at once: each batch is one bulk operation, in the transaction that decides it.

Run it as it is, on SQLite, or with the URL of an empty database: ``python batch.py postgresql://...``.
"""

import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import Snapshot, Task, TaskDecision, TaskState
from task_processor import BufferingTaskHandlerFactory, TaskListener, TaskManager, Worker, batch
from task_sql import create_engine, create_repository, schema

TOPIC = "export"
NUMBER = 1000


def export(tasks: Sequence[Task], tx: Connection) -> dict[Task, TaskDecision]:
    """Write all rows with one statement; the rows and the decisions commit together."""
    chosen = [task for task in tasks if int(task.identifier) % 10]
    rows = [{"number": int(task.identifier)} for task in chosen]
    tx.execute(text("INSERT INTO exported (number) VALUES (:number)"), rows)
    skipped = dict.fromkeys(tasks, TaskDecision.filter("a multiple of ten"))
    return skipped | dict.fromkeys(chosen, TaskDecision.SUCCESS)


class Countdown(TaskListener):
    """Tells when so many tasks are decided."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.lock = threading.Lock()
        self.done = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Count; batches are completed on several threads."""
        with self.lock:
            self.left -= len(decisions)
            if not self.left:
                self.done.set()


def main(url: str) -> None:
    """Export a thousand rows in batches of a hundred, two batches at once."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tx.execute(text("CREATE TABLE exported (number INTEGER PRIMARY KEY)"))
        tasks.initialize(tx, TOPIC)
        tasks.push_many(tx, TOPIC, map(str, range(NUMBER)))

    countdown = Countdown(NUMBER)
    factory = BufferingTaskHandlerFactory(batch(export), buffer=1, workers=2)
    manager = TaskManager(TOPIC, tasks, engine.begin, factory, size=100, listener=countdown)
    with Worker(tasks, engine.begin, [manager]):
        countdown.done.wait(30)

    with engine.begin() as tx:
        counts = tasks.count(tx, Snapshot.TOTAL)[TOPIC]
        exported = tx.execute(text("SELECT count(*) FROM exported")).scalar_one()
    print(f"{exported} rows exported")
    print(f"{counts[TaskState.SUCCEEDED].count} succeeded, {counts[TaskState.FILTERED].count} filtered")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'batch.db'}")
