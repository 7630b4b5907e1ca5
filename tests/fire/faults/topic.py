"""A topic that comes, is used, and goes while others work."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import sqlalchemy

import task_sql
from task_api import LostTaskError, TaskDecision, UnknownTopicError
from tests.fire.faults.fault import BOTH
from tests.fire.faults.patience import begin
from tests.fleet.crew import PATIENCE, eventually

if TYPE_CHECKING:
    from random import Random

    from sqlalchemy import Engine

    from task_api import TaskRepository
    from tests.fire.scene import Scene


_PAUSE = 0.02
"""Seconds between two pushes, so that others find the only lock of SQLite free."""


class Topic:
    """A topic is initialised, filled, worked on, purged and destroyed amidst pushes and polls."""

    name = "topic"
    databases = BOTH

    def strike(self, scene: Scene, chance: Random) -> str:
        """Let it live, and insist that nothing is left of it."""
        engine = task_sql.create_engine(scene.admin_url)
        try:
            return _Life(engine, f'passing\'s "{chance.getrandbits(32):08x}"').live(chance)
        finally:
            engine.dispose()


class _Life:
    """One topic from beginning to end."""

    def __init__(self, engine: Engine, topic: str) -> None:
        self._engine = engine
        self._topic = topic
        self._over = threading.Event()
        self._pushed = 0
        self._decided = 0

    def live(self, chance: Random) -> str:
        repository = self._repository("conductor")
        with begin(self._engine) as tx:
            assert repository.initialize(tx, self._topic)
        size = chance.randint(1, 200)
        with ThreadPoolExecutor(3) as pool:
            pushing = pool.submit(self._push, size)
            working = [pool.submit(self._work, size), pool.submit(self._work, 1)]
            busy = (pushing, *working)
            try:
                eventually(lambda: self._decided >= 2 * size or any(one.done() for one in busy), lambda: self._decided)
                with begin(self._engine) as tx:
                    purged = repository.purge(tx, self._topic)
                with begin(self._engine) as tx:
                    repository.purge_all(tx, self._topic)
                with begin(self._engine) as tx:
                    assert repository.destroy(tx, self._topic)
            finally:
                self._over.set()
            for one in busy:
                one.result(PATIENCE)
        with begin(self._engine) as tx:
            assert self._topic not in repository.topics(tx)
            left = tx.execute(sqlalchemy.text("SELECT count(*) FROM task WHERE topic = :topic"), {"topic": self._topic})
            assert left.scalar_one() == 0
        return f"topic {self._topic}: {self._pushed} pushed, {self._decided} decided, {purged} purged, destroyed"

    def _push(self, size: int) -> None:
        """Push until there is no topic any more."""
        repository = self._repository("pusher")
        with suppress(UnknownTopicError):
            while not self._over.wait(_PAUSE):
                with begin(self._engine) as tx:
                    repository.push_many(tx, self._topic, [f"{self._pushed}-{number}" for number in range(size)])
                self._pushed += size

    def _work(self, size: int) -> None:
        """Poll and complete until there is no topic any more."""
        repository = self._repository(f"worker of {size}")
        with begin(self._engine) as tx:
            repository.register(tx)
        while not self._over.is_set():
            with begin(self._engine) as tx:
                tasks = repository.poll_many(tx, self._topic, size)
            try:
                with begin(self._engine) as tx:
                    repository.complete_many(tx, self._topic, dict.fromkeys(tasks, TaskDecision.SUCCESS))
            except LostTaskError:
                continue  # purged with all others
            self._decided += len(tasks)

    def _repository(self, role: str) -> TaskRepository[Any]:
        return task_sql.create_repository(self._engine, owner=f"{role} of {self._topic}")
