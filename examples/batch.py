"""Work on whole batches, several at once: each batch is one bulk operation, in the transaction that decides it."""

import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import Snapshot, Task, TaskDecision, TaskState
from task_processor import BufferingTaskHandlerFactory, TaskListener, TaskManager, batch
from task_sql import create_engine, create_repository, schema

TOPIC = "export"
NUMBER = 1000


def export(tasks: Sequence[Task], tx: Connection) -> dict[Task, TaskDecision]:
    """Write all rows with one statement; the rows and the decisions commit together."""
    chosen = [task for task in tasks if int(task.identifier) % 10]
    tx.execute(text("INSERT INTO exported (number) VALUES (:number)"), [{"number": task.identifier} for task in chosen])
    skipped = dict.fromkeys(tasks, TaskDecision.filter("a multiple of ten"))
    return skipped | dict.fromkeys(chosen, TaskDecision.SUCCESS)


class Progress(TaskListener):
    """Counts what was decided."""

    def __init__(self) -> None:
        self.left = NUMBER
        self.lock = threading.Lock()
        self.done = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Count; batches are completed on several threads."""
        with self.lock:
            self.left -= len(decisions)
            if not self.left:
                self.done.set()


def main() -> None:
    """Export a thousand rows in batches of a hundred, two batches at once."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'batch.db'}")
        tasks = create_repository(engine, owner="batch")
        with engine.begin() as tx:
            schema.install(tx)
            tx.execute(text("CREATE TABLE exported (number INTEGER PRIMARY KEY)"))
            tasks.register(tx)
            tasks.initialize(tx, TOPIC)
            tasks.push_many(tx, TOPIC, map(str, range(NUMBER)))

        progress = Progress()
        factory = BufferingTaskHandlerFactory(batch(export), buffer=1, workers=2)
        manager = TaskManager(TOPIC, tasks, engine.begin, factory, size=100, listener=progress)
        manager.start()
        progress.done.wait(30)
        manager.stop()

        with engine.begin() as tx:
            counts = tasks.count(tx, Snapshot.TOTAL)[TOPIC]
            exported = tx.execute(text("SELECT count(*) FROM exported")).scalar_one()
        print(f"{exported} rows exported")
        print(f"{counts[TaskState.SUCCEEDED].count} succeeded, {counts[TaskState.FILTERED].count} filtered")
        engine.dispose()


if __name__ == "__main__":
    main()
