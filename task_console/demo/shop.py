"""
What the shop does with its tasks.

An order goes through a pipeline of steps, and its invoice is pushed in the transaction that decides it. An invoice
writes a row and pushes a mail, again in the transaction that decides it. Some orders can't be filled, and some invoices
fail at first or for good: which ones, their numbers tell, so that the end is known from the start.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from task_api import Task, TaskCreation, TaskDecision
from task_processor import (
    CompositeTaskHandlerFactory,
    RetryPolicy,
    TaskConsumerContext,
    TaskManager,
    batch,
    each,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from task_api import TaskRepository
    from task_processor import TaskListener, TaskSupplement

__all__ = ["INVOICES", "MAILS", "ORDERS", "TOPICS", "expected", "order", "prepare", "processors"]

ORDERS, INVOICES, MAILS = TOPICS = ("orders", "invoices", "mails")
"""The topics, in the order in which a task leads to the next."""

_RETRY = RetryPolicy(max_attempts=3, backoff=timedelta(milliseconds=100))
_PAUSE = timedelta(milliseconds=100)
_PRICES = (5, 12, 20)


def order(number: int) -> TaskCreation:
    """Return the order with a number."""
    return TaskCreation(f"order-{number}", input=str(number), reference=f"customer-{number % 10}")


def expected(orders: int) -> dict[str, int]:
    """Return how many tasks each topic will have decided in the end."""
    filled = [number for number in range(orders) if not _sold_out(number)]
    return {
        ORDERS: orders,
        INVOICES: len(filled),
        MAILS: sum(not _unpayable(number) for number in filled),
    }


def prepare(tx: Connection, repository: TaskRepository[Any]) -> None:
    """Make the topics, and the table that the work writes to."""
    tx.execute(text("CREATE TABLE demo_invoice (identifier VARCHAR(500) NOT NULL, amount INTEGER NOT NULL)"))
    for topic in TOPICS:
        repository.initialize(tx, topic)


def processors(engine: Engine, repository: TaskRepository[Any], listener: TaskListener) -> list[TaskManager[Any]]:
    """Return what works on the three topics."""

    def invoice(task: Task, tx: Connection) -> None:
        _charge(task)
        amount = int(task.input or 0)
        statement = text("INSERT INTO demo_invoice (identifier, amount) VALUES (:identifier, :amount)")
        tx.execute(statement, {"identifier": task.identifier, "amount": amount})
        repository.push(tx, MAILS, TaskCreation(task.identifier, input=f"You owe us {amount}"))

    mails = TaskManager(MAILS, repository, engine.begin, batch(_send), listener=listener, size=200, pause=_PAUSE)
    invoices = TaskManager(
        INVOICES, repository, engine.begin, each(invoice), listener=listener, size=50, pause=_PAUSE, retry=_RETRY
    )

    def context(topic: str, tasks: Sequence[Task]) -> TaskConsumerContext[Any]:
        return TaskConsumerContext(topic, tasks, repository, {INVOICES: invoices})

    pipeline = (
        CompositeTaskHandlerFactory(context=context)
        .each("price", _price)
        .each("stock", _stock)
        .batch("book", _book, after=("price", "stock"))
    )
    orders = TaskManager(ORDERS, repository, engine.begin, pipeline, listener=listener, size=100, pause=_PAUSE)
    return [orders, invoices, mails]


def _price(task: Task, supplement: TaskSupplement) -> None:
    supplement.register(int, _PRICES[_number(task) % len(_PRICES)], task=task)


def _stock(task: Task) -> TaskDecision | None:
    return TaskDecision.filter("sold out") if _sold_out(_number(task)) else None


def _book(tasks: Sequence[Task], supplement: TaskSupplement) -> None:
    for task in tasks:
        amount = supplement.require(int, task=task)
        supplement.context.push(task, INVOICES, TaskCreation(task.identifier, input=str(amount)))


def _charge(task: Task) -> None:
    number = int(task.identifier.removeprefix("order-"))
    if _unpayable(number):
        message = "the card is not accepted"
        raise PermissionError(message)
    if number % 10 == 3 and task.attempt == 1:  # noqa: PLR2004 - any remainder would do
        message = "the bank did not answer"
        raise ConnectionError(message)


def _send(tasks: Sequence[Task]) -> None:
    """Send nothing: it is a demonstration."""


def _number(task: Task) -> int:
    return int(task.input or 0)


def _sold_out(number: int) -> bool:
    return number % 20 == 7  # noqa: PLR2004 - any remainder would do


def _unpayable(number: int) -> bool:
    return number % 50 == 13  # noqa: PLR2004 - any remainder would do
