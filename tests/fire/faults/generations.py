"""Clients of two versions of the schema, on one database."""

from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING, Any

import sqlalchemy

import task_sql
from task_api import SchemaError, TaskDecision
from tests.fire.faults.patience import begin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from task_api import TaskRepository

TOPIC = "topic"
_PAUSE = 0.005
_numbers = count()


class Client:
    """Pushes and works, each on a thread of its own, until it is stopped."""

    def __init__(self, engine: Engine, size: int) -> None:
        self.pushed: list[str] = []
        """What was committed."""
        self.decided = 0
        self._engine = engine
        self._size = size
        self._name = f"{type(self).__name__}-{next(_numbers)}"
        self._over = threading.Event()

    def stop(self) -> None:
        """Go on no more."""
        self._over.set()

    def push(self) -> None:
        """Push until stopped."""
        for number in count():
            if self._over.wait(_PAUSE):
                return
            identifiers = [f"{self._name}-{number}-{index}" for index in range(self._size)]
            try:
                with begin(self._engine) as tx:
                    self._push(tx, identifiers)
            except SchemaError:
                continue  # not yet
            self.pushed += identifiers

    def work(self) -> None:
        """Work until stopped."""
        while not self._over.wait(_PAUSE):
            try:
                self.decided += self._work()
            except SchemaError:
                continue  # not yet

    def drain(self) -> None:
        """Work until there is nothing left."""
        while self._work():
            pass

    def _push(self, tx: Connection, identifiers: Sequence[str]) -> None:
        raise NotImplementedError

    def _work(self) -> int:
        raise NotImplementedError

    def _take_effect(self, tx: Connection, identifiers: Sequence[str]) -> None:
        if identifiers:
            rows = [{"identifier": identifier} for identifier in identifiers]
            tx.execute(sqlalchemy.text("INSERT INTO effect (identifier) VALUES (:identifier)"), rows)


class Old(Client):
    """Speaks the SQL of the first version, in which poll, work and decision are one transaction."""

    _INSERT = "INSERT INTO task (topic, identifier) VALUES (:topic, :identifier)"
    _CLAIM = "SELECT sequence, identifier FROM task WHERE topic = :topic AND state = 1 ORDER BY sequence LIMIT :size"
    _DECIDE = """
        UPDATE task SET state = 6, attempt = attempt + 1, token = token + 1, completed = CURRENT_TIMESTAMP
        WHERE topic = :topic AND sequence = :sequence
    """

    def _push(self, tx: Connection, identifiers: Sequence[str]) -> None:
        rows = [{"topic": TOPIC, "identifier": identifier} for identifier in identifiers]
        tx.execute(sqlalchemy.text(self._INSERT), rows)

    def _work(self) -> int:
        skipping = " FOR UPDATE SKIP LOCKED" if self._engine.dialect.name == "postgresql" else ""
        with begin(self._engine) as tx:
            found: Any = tx.execute(sqlalchemy.text(self._CLAIM + skipping), {"topic": TOPIC, "size": self._size})
            tasks = found.fetchall()
            if tasks:
                self._take_effect(tx, [identifier for _, identifier in tasks])
                rows = [{"topic": TOPIC, "sequence": sequence} for sequence, _ in tasks]
                tx.execute(sqlalchemy.text(self._DECIDE), rows)
        return len(tasks)


class New(Client):
    """Speaks through the library, poll and decision in a transaction each."""

    def __init__(self, engine: Engine, size: int) -> None:
        super().__init__(engine, size)
        self._repository: TaskRepository[Any] = task_sql.create_repository(engine, owner=self._name)

    def _push(self, tx: Connection, identifiers: Sequence[str]) -> None:
        self._repository.push_many(tx, TOPIC, identifiers)

    def _work(self) -> int:
        with begin(self._engine) as tx:
            self._repository.register(tx)
            tasks = self._repository.poll_many(tx, TOPIC, self._size)
        with begin(self._engine) as tx:
            self._take_effect(tx, [task.identifier for task in tasks])
            self._repository.complete_many(tx, TOPIC, dict.fromkeys(tasks, TaskDecision.SUCCESS))
        return len(tasks)
