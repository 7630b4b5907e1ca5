"""
Have documents checked by an authority that takes its time: ask again and again, unless its callback comes first.

Run it as it is, on SQLite, or with the URL of an empty database: ``python document_check.py postgresql://...``.
"""

import asyncio
import logging
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from task_api import Task, TaskDecision, TaskRepository
from task_processor import StateMachine, TaskListener, TaskManager, Transition, Worker
from task_sql import create_engine, create_notifier, create_repository, schema

TOPIC = "documents"
DOCUMENTS = ("passport", "licence", "visa")
MINUTE = timedelta(minutes=1)
BRIEFLY = timedelta(milliseconds=50)


class Authority:
    """Stands for a service far away."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.hangs = threading.Event()

    async def ask(self, document: str) -> str | timedelta:
        """Tell what became of a document, or after which time to ask again."""
        self.asked[document] += 1
        if document == "visa":
            self.hangs.set()
            await asyncio.sleep(3600)
        if document == "licence":
            return MINUTE
        return BRIEFLY if self.asked[document] == 1 else "valid"


authority = Authority()


def send(task: Task, data: dict[str, Any]) -> Transition:
    """Send the document; its number is what the authority will call back with."""
    return Transition.to("waiting", {**data, "number": task.sequence, "asked": 0})


async def ask(task: Task, data: dict[str, Any]) -> Transition:
    """Ask what became of it, and come back later if nothing did."""
    answer = await authority.ask(task.identifier)
    if isinstance(answer, timedelta):
        return Transition.stay({**data, "asked": data["asked"] + 1}, answer)
    return Transition.to("checked", {**data, "answer": answer, "by": "asking"})


def close(_: Task, data: dict[str, Any]) -> Transition:
    """End with the answer, whoever brought it."""
    return Transition.finish(f"{data['answer']}, known by {data['by']}")


machine = (
    StateMachine("new")
    .on("new", send)
    .on("waiting", ask, lease=MINUTE)  # extended as long as the authority is asked
    .on("checked", close)
)


def call_back(engine: Engine, tasks: TaskRepository[Connection], number: int, answer: str) -> None:
    """Do what a web server does when the authority calls."""
    with engine.begin() as tx:
        machine.tell(tasks, tx, TOPIC, number, Transition.to("checked", {"answer": answer, "by": "callback"}))


class Watch(TaskListener):
    """Tells what has happened so far."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.done = threading.Event()
        self.waiting = threading.Event()
        self.lost = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """See whether the licence waits, and whether all have ended."""
        for task, decision in decisions.items():
            if decision.due is None:
                self.ended.add(task.identifier)
            elif task.identifier == "licence":
                self.waiting.set()
        if len(self.ended) == len(DOCUMENTS):
            self.done.set()

    def on_lost(self, topic: str, trace: object, tasks: Sequence[Task]) -> None:  # noqa: ARG002
        """See that a task was taken over."""
        self.lost.set()


def main(url: str) -> None:
    """Check three documents: one by asking, two by a callback, of which one comes while we ask."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, TOPIC)
        pushed = tasks.push_many(tx, TOPIC, {name: f'{{"page": "{name}.pdf"}}' for name in DOCUMENTS})
    numbers = {task.identifier: task.sequence for task in pushed}

    watch = Watch()
    factory = machine.bind(tasks, engine.begin, interval=BRIEFLY)
    manager = TaskManager(TOPIC, tasks, engine.begin, factory, listener=watch)
    with Worker(tasks, engine.begin, [manager], notifier=create_notifier(engine), promotion=BRIEFLY):
        watch.waiting.wait(30)
        call_back(engine, tasks, numbers["licence"], "forged")
        authority.hangs.wait(30)
        call_back(engine, tasks, numbers["visa"], "expired")
        watch.lost.wait(30)
        watch.done.wait(30)

    with engine.begin() as tx:
        for task in tasks.page(tx, TOPIC):
            print(f"{task.identifier}: {task.state.name}, {task.output}")
    engine.dispose()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, format="%(message)s")
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'documents.db'}")
