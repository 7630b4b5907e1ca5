"""
What a producer process runs: pushes in transactions of its own, some of which it rolls back.

It keeps a diary in a file: ``begin`` before a transaction, ``commit`` once the database has said so, ``rollback`` after
one on purpose. What was begun and neither committed nor rolled back is in doubt. Says ``pushed`` with the number of
tasks.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy.exc import SQLAlchemyError

import task_sql
from task_api import Insertion, TaskCreation, TaskError, TaskRef
from tests.fire import tables
from tests.fire.talk import engine_of, hear, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from task_api import Task
    from tests.fire.plan import Plan
    from tests.fire.topics import Topic

ROLLED_BACK = 0.03
"""How often a transaction is rolled back on purpose."""
RECENT = 300
"""How many earlier tasks may be waited for."""
LOGGER = logging.getLogger(__name__)


class OnPurposeError(Exception):
    """Rolls a transaction back."""


class Diary:
    """What a producer knows of its transactions, in a file that outlives it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, word: str, batch: str, number: int = 0) -> None:
        """Write a line; if that is not possible, the batch is in doubt."""
        with suppress(OSError):
            os.write(self._file, f"{word} {batch} {number}\n".encode())


class Producer:
    """Pushes as much as it is allowed to."""

    def __init__(self, plan: Plan, number: int, name: str, url: str) -> None:
        self._plan = plan
        self._number = number
        self._name = name
        self._engine = engine_of(plan, url, 2)
        self._repository = task_sql.create_repository(self._engine, owner=name)
        self._chance = plan.chance("producer", name)
        self._topics = {topic.name: topic for topic in plan.topics}
        self.diary = Diary(Path(f"{name}.diary"))
        self._recent: deque[Task] = deque(maxlen=RECENT)
        self.noted = 0
        self._pushed = 0
        self._allowed = 0
        self._changed = threading.Condition()

    def hear(self, line: str) -> None:
        """Be told how many tasks are allowed, or with a negative number to end."""
        with self._changed:
            self._allowed = int(line)
            self._changed.notify_all()

    def run(self) -> None:
        """Push until told to end."""
        topics = [topic for topic in self._topics.values() if topic.weight]
        first = iter(self._chance.sample(topics, len(topics)))
        for number in count():
            with self._changed:
                self._changed.wait_for(lambda: self._allowed < 0 or self._allowed > self._pushed)
                if self._allowed < 0:
                    break
            topic = next(first, None) or self._chance.choices(topics, [topic.weight for topic in topics])[0]
            try:
                self._batch(f"{self._name}-{number}", topic)
            except (SQLAlchemyError, psycopg.Error, TaskError) as error:
                LOGGER.warning("%s-%s: %r", self._name, number, error)
                with self._changed:
                    self._changed.wait_for(lambda: self._allowed < 0, 0.1)
        self._engine.dispose()

    def _batch(self, batch: str, topic: Topic) -> None:
        """Push a batch in a transaction of its own."""
        failing = self._chance.random() < ROLLED_BACK
        self.diary.note("begin", batch)
        try:
            with self._engine.begin() as tx:
                self.noted = 0
                tasks = self._push(tx, batch, topic)
                self.before_commit(tx, batch)
                if failing:
                    raise OnPurposeError  # noqa: TRY301 - to be seen by the transaction
        except OnPurposeError:
            self.diary.note("rollback", batch, self.noted)
            return
        self.diary.note("commit", batch, self.noted)
        if topic.name == "before":
            self._recent.extend(tasks)
        fresh = 0 if "UNIQUE" in topic.modes else len(tasks)
        # What comes to nothing counts for a little all the same, so that there is an end.
        self._pushed += fresh or 1
        say("pushed", fresh)

    def before_commit(self, tx: Connection, batch: str) -> None:
        """All is written and nothing committed; for those who want to do something wrong."""

    def _push(self, tx: Connection, batch: str, topic: Topic) -> list[Task]:
        chance = self._chance
        mode = chance.choice(topic.modes)
        size = chance.randint(*self._plan.batch)
        identifiers = self._identifiers(batch, topic, size)
        what, weights = zip(*topic.mix, strict=True)
        inputs = chance.choices(what, weights, k=len(identifiers))
        due = topic.name == "due"
        creations = [
            TaskCreation(identifier, text, due=timedelta(seconds=chance.uniform(0, 1.5)) if due else None)
            for identifier, text in zip(identifiers, inputs, strict=True)
        ]
        tasks = self._repository.push_many(tx, topic.name, creations, insertion=Insertion[mode])
        self._note(tx, batch, topic.name, tasks, mode)
        if topic.name == "before":
            self._push_after(tx, batch, tasks)
        return tasks

    def _push_after(self, tx: Connection, batch: str, tasks: Sequence[Task]) -> None:
        """Push tasks that wait for some of these, and of those before."""
        chance = self._chance
        known = [*tasks, *self._recent]
        awaited = [chance.sample(known, chance.randint(1, 3)) for _ in range(len(tasks) // 3)]
        creations = [
            TaskCreation(f"{batch}.{n}", "s", after=tuple(TaskRef("before", task.sequence) for task in some))
            for n, some in enumerate(awaited)
        ]
        if creations:
            pushed = self._repository.push_many(tx, "after", creations)
            self._note(tx, batch, "after", pushed, "APPEND")
            pairs = [(task.sequence, one.sequence) for task, some in zip(pushed, awaited, strict=True) for one in some]
            tables.write_links(tx, pairs)

    def _identifiers(self, batch: str, topic: Topic, size: int) -> list[str]:
        if topic.name == "parts":
            sizes = [self._chance.randint(2, 5) for _ in range(size // 4 + 1)]
            return [f"{batch}.{group}-{n}-{parts}" for group, parts in enumerate(sizes) for n in range(parts)]
        if not topic.pool:
            return [f"{batch}.{n}" for n in range(size)]
        if topic.shared:
            return [f"{n}" for n in self._chance.sample(range(topic.pool), min(size, topic.pool // 2))]
        return [f"{self._number}-{self._chance.randrange(topic.pool)}" for _ in range(size)]

    def _note(self, tx: Connection, batch: str, topic: str, tasks: Sequence[Task], mode: str) -> None:
        rows: list[tuple[Any, ...]] = [(batch, topic, task.sequence, task.identifier, mode) for task in tasks]
        tables.write_notes(tx, rows)
        self.noted += len(rows)


def main(plan: Plan, number: int, name: str, url: str) -> None:
    """Push until told to end."""
    producer = Producer(plan, number, name, url)
    hear(producer.hear)
    producer.run()
