"""
Work in steps, of which some run at once, and push what follows to the next topic.

Run it as it is, on SQLite, or with the URL of an empty database: ``python composite.py postgresql://...``.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from task_api import Task, TaskCreation, TaskDecision
from task_processor import (
    CompositeTaskHandlerFactory,
    TaskConsumerContext,
    TaskContext,
    TaskListener,
    TaskManager,
    TaskSupplement,
    Worker,
    each,
    tagging,
)
from task_sql import create_engine, create_repository, schema

ORDERS, INVOICES = "orders", "invoices"
PRICES = {"apple": 2, "pear": 3}


def price(task: Task, supplement: TaskSupplement) -> TaskDecision | None:
    """Look the price up and leave it for later steps."""
    if task.input not in PRICES:
        return TaskDecision.filter(f"we have no {task.input}")
    supplement.register(int, PRICES[task.input], task=task, qualifier="price")
    return None


async def rate(task: Task, supplement: TaskSupplement) -> None:
    """Ask a service; all tasks of a batch are asked for at once."""
    await asyncio.sleep(0)
    supplement.register(float, 1.19, task=task, qualifier="rate")


def invoice(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
    """Record an invoice for each order; it is pushed in the transaction that decides the orders."""
    for task in tasks:
        amount = supplement.require(int, task=task, qualifier="price")
        rate = supplement.require(float, task=task, qualifier="rate")
        supplement.context.push(task, INVOICES, TaskCreation(task.identifier, input=f"{amount * rate:.2f}"))


def pay(task: Task) -> str:
    """Pay an invoice."""
    return f"paid {task.input}"


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
    """Turn three orders into two invoices."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, ORDERS)
        tasks.push_many(tx, ORDERS, {"order 1": "apple", "order 2": "plum", "order 3": "pear"})

    paid = Countdown(2)
    payer = TaskManager(INVOICES, tasks, engine.begin, each(pay), listener=paid)

    def context(topic: str, batch: Sequence[Task]) -> TaskContext:
        return TaskConsumerContext(topic, batch, tasks, {INVOICES: payer}, postprocessor=tagging())

    steps = (
        CompositeTaskHandlerFactory(context=context)
        .each("price", price)
        .each("rate", rate)
        .batch("invoice", invoice, after=("price", "rate"))
    )
    seller = TaskManager(ORDERS, tasks, engine.begin, steps)
    with Worker(tasks, engine.begin, [seller, payer], initialize_topics=True):
        paid.done.wait(30)

    with engine.begin() as tx:
        for task in (*tasks.page(tx, ORDERS), *tasks.page(tx, INVOICES)):
            print(f"{task.topic}: {task.identifier} {task.state.name} {task.output or ''}".rstrip())
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'composite.db'}")
