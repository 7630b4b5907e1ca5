"""Poll, work and decide in one transaction: half the writes, and a crash frees the task at once."""

import tempfile
import threading
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import Claim, Task
from task_processor import TaskListener, TaskManager, each
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


class UntilEmpty(TaskListener):
    """Tells when there is nothing left to do."""

    def __init__(self) -> None:
        self.empty = threading.Event()

    def on_empty(self, topic: str) -> None:  # noqa: ARG002 - one topic alone
        """Remember that a poll found nothing."""
        self.empty.set()


def main() -> None:
    """Make three transfers, of which one is too large."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'claim.db'}")
        tasks = create_repository(engine, owner="bank")
        with engine.begin() as tx:
            schema.install(tx)
            tx.execute(text("CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER)"))
            tx.execute(text("INSERT INTO account VALUES ('giro', 100), ('savings', 0)"))
            tasks.register(tx)
            tasks.initialize(tx, TOPIC)
            tasks.push_many(tx, TOPIC, {"rent": "60", "car": "5000", "food": "30"})

        listener = UntilEmpty()
        manager = TaskManager(
            TOPIC, tasks, engine.begin, each(transfer), listener=listener, size=10, claim=Claim.TRANSACTION
        )
        manager.start()
        listener.empty.wait(30)
        manager.stop()

        with engine.begin() as tx:
            for task in tasks.page(tx, TOPIC):
                print(f"{task.identifier}: {task.state.name}")
            for name, balance in tx.execute(text("SELECT name, balance FROM account ORDER BY name")):
                print(f"{name}: {balance}")
        engine.dispose()


if __name__ == "__main__":
    main()
