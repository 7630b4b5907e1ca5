"""
Poll, work and decide in one transaction: half the writes, and a crash frees the task at once.

Run it as it is, on SQLite, or with the URL of an empty database: ``python transactional_claim.py postgresql://...``.
"""

import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import Claim, Task, TaskDecision
from task_processor import TaskListener, TaskManager, Worker, each
from task_sql import create_engine, create_repository, schema

TOPIC = "transfers"


def transfer(task: Task, tx: Connection) -> None:
    """Move money inside the transaction that claims and decides the task."""
    amount = int(task.input or 0)
    tx.execute(text("UPDATE account SET balance = balance + :amount WHERE name = 'savings'"), {"amount": amount})
    tx.execute(text("UPDATE account SET balance = balance - :amount WHERE name = 'giro'"), {"amount": amount})
    left = tx.execute(text("SELECT balance FROM account WHERE name = 'giro'")).scalar_one()
    if left < 0:
        # Only this task's effects are undone, to a savepoint; it becomes FAILED with this error.
        message = f"{-left} too much"
        raise ValueError(message)


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
    """Make three transfers, of which one is too large."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tx.execute(text("CREATE TABLE account (name VARCHAR(20) PRIMARY KEY, balance INTEGER)"))
        tx.execute(text("INSERT INTO account VALUES ('giro', 100), ('savings', 0)"))
        tasks.initialize(tx, TOPIC)
        tasks.push_many(tx, TOPIC, {"rent": "60", "car": "5000", "food": "30"})

    countdown = Countdown(3)
    manager = TaskManager(
        TOPIC, tasks, engine.begin, each(transfer), listener=countdown, size=10, claim=Claim.TRANSACTION
    )
    with Worker(tasks, engine.begin, [manager]):
        countdown.done.wait(30)

    with engine.begin() as tx:
        for task in tasks.page(tx, TOPIC):
            print(f"{task.identifier}: {task.state.name}")
        for name, balance in tx.execute(text("SELECT name, balance FROM account ORDER BY name")):
            print(f"{name}: {balance}")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'claim.db'}")
