"""
Push tasks and have a worker do them, one by one: a failure is tried again, and what became of all is a query away.

Run it as it is, on SQLite, or with the URL of an empty database: ``python quickstart.py postgresql://...``.
"""

import sys
import tempfile
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from task_api import Task, TaskCreation, TaskDecision
from task_processor import RetryPolicy, TaskListener, TaskManager, Worker, each
from task_sql import create_engine, create_notifier, create_repository, schema

TOPIC = "greetings"


def greet(task: Task) -> str:
    """Greet somebody; the text becomes the task's output."""
    if task.identifier == "Bob" and task.attempt == 1:
        message = "Bob was not at home"
        raise ConnectionError(message)
    return f"Hello {task.identifier}, here is {task.input}"


class Countdown(TaskListener):
    """Tells when so many tasks are decided for good."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.done = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Count those that do not come back."""
        self.left -= sum(decision.due is None for decision in decisions.values())
        if not self.left:
            self.done.set()


def main(url: str) -> None:
    """Run the whole life of three tasks."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, TOPIC)
        tasks.push_many(tx, TOPIC, [TaskCreation(name, input="a cake") for name in ("Ann", "Bob", "Cid")])

    countdown = Countdown(3)
    retry = RetryPolicy(max_attempts=3, backoff=timedelta(milliseconds=100))
    manager = TaskManager(TOPIC, tasks, engine.begin, each(greet), listener=countdown, retry=retry)
    # A program of its own would say worker.run(), which ends with SIGTERM.
    with Worker(tasks, engine.begin, [manager], notifier=create_notifier(engine)):
        countdown.done.wait(30)

    with engine.begin() as tx:
        for task in tasks.page(tx, TOPIC):
            print(f"{task.state.name} after {task.attempt}: {task.output}")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'quickstart.db'}")
