"""Push tasks and have them worked on, one by one: a failure is tried again, and what became of all is a query away."""

import tempfile
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

from task_api import Task, TaskCreation
from task_processor import RetryPolicy, TaskListener, TaskManager, each
from task_sql import create_engine, create_repository, schema

TOPIC = "greetings"
attempts = Counter[str]()


def greet(task: Task) -> str:
    """Greet somebody; the text becomes the task's output."""
    attempts[task.identifier] += 1
    if task.identifier == "Bob" and attempts["Bob"] == 1:
        message = "Bob was not at home"
        raise ConnectionError(message)
    return f"Hello {task.identifier}, here is {task.input}"


class UntilEmpty(TaskListener):
    """Tells when there is nothing left to do."""

    def __init__(self) -> None:
        self.empty = threading.Event()

    def on_empty(self, topic: str) -> None:  # noqa: ARG002 - one topic alone
        """Remember that a poll found nothing."""
        self.empty.set()


def main() -> None:
    """Run the whole life of three tasks."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'quickstart.db'}")
        tasks = create_repository(engine, owner="quickstart")
        with engine.begin() as tx:
            schema.install(tx)
            tasks.register(tx)
            tasks.initialize(tx, TOPIC)
            tasks.push_many(tx, TOPIC, [TaskCreation(name, input="a cake") for name in ("Ann", "Bob", "Cid")])

        retry = RetryPolicy(max_attempts=3, backoff=timedelta())
        for _ in range(2):
            listener = UntilEmpty()
            manager = TaskManager(TOPIC, tasks, engine.begin, each(greet), listener=listener, retry=retry)
            manager.start()
            listener.empty.wait(30)
            manager.stop()
            with engine.begin() as tx:
                tasks.promote(tx, TOPIC)  # what is due comes back; a worker does this by itself

        with engine.begin() as tx:
            for task in tasks.page(tx, TOPIC):
                print(f"{task.state.name} after {task.attempt}: {task.output}")
        engine.dispose()


if __name__ == "__main__":
    main()
