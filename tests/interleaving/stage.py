"""Where actors play: each a thread with a connection, of which one at a time does one step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from task_api import TaskError
from tests.interleaving.steps import Step, SteppedConnection

if TYPE_CHECKING:
    from collections.abc import Collection

    from task_api import TaskRepository

Script: TypeAlias = "Callable[[TaskRepository[Any], Any], object]"
"""What an actor does in a transaction, which is committed afterwards."""
Director: TypeAlias = Callable[[Mapping[str, Step]], str]
"""Chooses who goes on, of those who can."""

_TIMEOUT = 30.0
_GRACE = 0.004
"""Seconds that a statement may take before it is asked whether it waits for a lock."""
_BLOCKERS = "SELECT p, pg_blocking_pids(p) FROM unnest(%s::integer[]) AS p"
_SETTINGS = "SET deadlock_timeout = '4ms'; SET statement_timeout = '20s'; SET synchronous_commit = off"


class HungError(Exception):
    """A play came to no end."""


@dataclass(frozen=True)
class Outcome:
    """What became of an actor's script."""

    value: object = None
    error: Exception | None = None

    @property
    def deadlocked(self) -> bool:
        """Whether the database chose it to end a deadlock."""
        return isinstance(self.error, psycopg.errors.DeadlockDetected)


class _Player:
    """An actor in one play."""

    def __init__(self, name: str, tx: SteppedConnection, changed: Condition) -> None:
        self.name, self.tx, self.pid = name, tx, tx.info.backend_pid
        self.at: Step | None = None
        """The step before which it stands."""
        self.outcome: Outcome | None = None
        self.crash: BaseException | None = None
        self._go = False
        self._changed = changed

    @property
    def running(self) -> bool:
        return self.at is None and self.outcome is None and self.crash is None

    def gate(self, step: Step) -> None:
        with self._changed:
            self.at = step
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._go, _TIMEOUT):
                raise HungError(self.name)
            self._go = False

    def go(self) -> None:
        with self._changed:
            self.at, self._go = None, True
            self._changed.notify_all()

    def play(self, repository: TaskRepository[Any], script: Script) -> None:
        outcome, crash = None, None
        try:
            outcome = self._attempt(repository, script)
        except BaseException as error:  # noqa: BLE001 - raised again where the play is judged
            crash = error
            self.tx.gate = None
            self.tx.rollback()
        self.tx.gate = None
        with self._changed:
            self.outcome, self.crash = outcome, crash
            self._changed.notify_all()

    def _attempt(self, repository: TaskRepository[Any], script: Script) -> Outcome:
        try:
            value = script(repository, self.tx)
            if self.tx.info.transaction_status != TransactionStatus.IDLE:
                self.tx.commit()
        except (TaskError, psycopg.Error) as error:
            self.tx.rollback()
            return Outcome(error=error)
        return Outcome(value)


class Stage:
    """Connections to one database, used for one play after the other."""

    def __init__(self, dsn: str, size: int) -> None:
        self.observer: psycopg.Connection[Any] = psycopg.connect(dsn, autocommit=True)
        # Prepared statements would make the first plays differ from the later ones.
        self.connections = [SteppedConnection.connect(dsn, prepare_threshold=None) for _ in range(size)]
        for connection in self.connections:
            connection.execute(_SETTINGS)
            connection.commit()
        self._changed = Condition()

    def close(self) -> None:
        """Close the connections."""
        for connection in (*self.connections, self.observer):
            connection.close()

    def play(
        self,
        scripts: Mapping[str, tuple[TaskRepository[Any], Script]],
        director: Director,
        after: Callable[[str, Step], None],
    ) -> dict[str, Outcome]:
        """Play scripts to their end; ``after`` each step, all others stand still or wait for a lock."""
        players = {name: _Player(name, tx, self._changed) for name, tx in zip(scripts, self.connections, strict=False)}
        threads = []
        for name, (repository, script) in scripts.items():
            player = players[name]
            repository.topics(player.tx)  # what is asked once for each connection is no part of the play
            player.tx.rollback()
            player.tx.gate = player.gate
            threads.append(Thread(target=player.play, args=(repository, script), daemon=True))
        for thread in threads:
            thread.start()
        self._settle(players.values(), *players.values())
        while standing := {name: player.at for name, player in players.items() if player.at}:
            chosen = director(standing)
            players[chosen].go()
            self._settle(players.values(), players[chosen])
            after(chosen, standing[chosen])
        for thread in threads:
            thread.join(_TIMEOUT)
        for player in players.values():
            if player.crash:
                raise player.crash
        return {name: player.outcome or Outcome() for name, player in players.items()}

    def _settle(self, players: Collection[_Player], *moved: _Player) -> None:
        """Return when all have stopped: before a step, at their end, or at a lock that one who stands holds."""
        deadline = time.monotonic() + _TIMEOUT
        with self._changed:
            self._changed.wait_for(lambda: not any(player.running for player in moved), _GRACE)
        while running := [player for player in players if player.running]:
            if self._stuck(running, {player.pid for player in players if player.at}):
                return
            if time.monotonic() > deadline:
                message = f"neither ended nor waits: {', '.join(player.name for player in running)}"
                raise HungError(message)
            with self._changed:
                self._changed.wait_for(lambda: not any(player.running for player in players), _GRACE / 4)

    def _stuck(self, running: Collection[_Player], standing: set[int]) -> bool:
        """Whether all who run wait for one who stands, or for another who does."""
        waiting = dict(self.observer.execute(_BLOCKERS, [[player.pid for player in running]]).fetchall())
        stuck = set(standing)
        while more := {pid for pid, blockers in waiting.items() if stuck.intersection(blockers)} - stuck:
            stuck |= more
        return waiting.keys() <= stuck
