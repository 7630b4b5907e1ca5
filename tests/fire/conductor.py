"""Runs producers and workers, strikes, waits until all is decided, and gathers the evidence."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

import task_sql
from tests.fire import auditor, evidence, tables
from tests.fire.faults import FAULTS
from tests.fire.member import Process
from tests.fire.pace import Blow, samples

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Engine

    from tests.fire.plan import Plan, Strike
    from tests.fire.stage import Stage

LOOK = 0.25
"""Seconds between two looks at how far all have come."""
REST = 1.5
"""Seconds without work after which whoever is still in a transaction has forgotten it."""
STARTING = 60.0
"""Seconds within which something must have been done."""


@dataclass(slots=True)
class Outcome:
    """What became of a run."""

    plan: Plan
    tasks: int = 0
    """How many tasks were pushed, those rolled back aside."""
    seconds: float = 0.0
    """From the first start to the last decision."""
    samples: list[int] = field(default_factory=list)
    """How many tasks were decided in each step of the time, as long as tasks were pushed."""
    blows: list[Blow] = field(default_factory=list)
    lost: int = 0
    """How many claims were lost to others."""
    complaints: dict[str, list[str]] = field(default_factory=dict)


class Orders:
    """What comes in at a steady rate, whether it can be done or not."""

    def __init__(self, rate: float, producers: Sequence[Process]) -> None:
        self._share = rate / len(producers)
        self._pushed = {producer.number: producer.heard["pushed"] for producer in producers}
        self._begin = time.monotonic()

    def limit(self, producer: Process, allowed: int) -> int:
        """Let a producer push no more than has come in for it."""
        if not self._share:
            return allowed
        come = self._share * (time.monotonic() - self._begin)
        return min(allowed, self._pushed[producer.number] + int(come))


class Conductor:
    """One run, and the scene of its faults."""

    def __init__(self, plan: Plan, stage: Stage, folder: Path) -> None:
        self.plan = plan
        self.database = plan.database
        self.folder = folder
        self.silence = max(plan.lease, plan.expiry) + 1.0
        self.members: Sequence[Process] = ()
        self._stage = stage
        self._enough = threading.Event()
        self._over = threading.Event()
        self._blows: list[Blow] = []
        self._problems: list[tuple[str, str]] = []
        self._striking = threading.Lock()
        self._start = 0.0

    @property
    def cluster(self) -> Any:  # noqa: ANN401 - the faults' own
        """The servers of PostgreSQL, if there are any."""
        return self._stage.cluster

    @property
    def proxy(self) -> Any:  # noqa: ANN401 - the faults' own
        """What stands between members and the server, if anything."""
        return self._stage.proxy

    @property
    def database_file(self) -> Path | None:
        """The file of SQLite."""
        return self._stage.database_file

    @property
    def url(self) -> str:
        """What members use."""
        return self._stage.url

    @property
    def admin_url(self) -> str:
        """Past the proxy, as a superuser."""
        return self._stage.admin_url

    def run(self) -> Outcome:
        """Do it all."""
        plan, outcome = self.plan, Outcome(self.plan)
        self._start = time.monotonic()
        numbers = [("worker", n) for n in range(plan.workers)] + [("producer", n) for n in range(plan.producers)]
        self.members = [Process(plan, kind, number, self.url, self.folder) for kind, number in numbers]
        striker = threading.Thread(target=self._strike, name="fire-faults")
        try:
            striker.start()
            self._feed(striker)
            fed = time.monotonic() - self._start
            self._stop(striker)
            self._end("producer")
            self._drain()
            outcome.seconds = time.monotonic() - self._start
            proof = evidence.create(self.folder / "evidence.db")
            time.sleep(REST)
            self._rest(proof)
            self._end("worker")
            self._rest(proof)
        finally:
            self._stop(striker)
            for member in self.members:
                if member.alive:
                    member.kill()
        said = [event for member in self.members for event in member.said]
        outcome.samples = samples(said, self._start, self._start + fed)
        self._judge(proof, outcome)
        return outcome

    def _stop(self, striker: threading.Thread) -> None:
        self._enough.set()
        self._over.set()
        striker.join()

    def _feed(self, striker: threading.Thread) -> None:
        """Let producers push, never much more than can be done, until there is enough and every fault has struck."""
        producers = [member for member in self.members if member.kind == "producer"]
        last, moved = 0, time.monotonic() + STARTING
        orders: Orders | None = None
        while time.monotonic() < moved + self.plan.patience:
            pushed = sum(member.heard["pushed"] for member in producers)
            if pushed >= self.plan.tasks and len(self._blows) >= len(self.plan.faults):
                self._enough.set()
                orders = orders or Orders(self.plan.rate, producers)
                if not striker.is_alive():
                    return
            done = sum(member.heard["done"] for member in self.members)
            if pushed + done > last:
                last, moved = pushed + done, time.monotonic()
            if (undecided := self._undecided()) is not None:
                room = max(0, self.plan.backlog - undecided) // len(producers)
                for member in producers:
                    allowed = member.heard["pushed"] + room
                    member.tell(orders.limit(member, allowed) if orders else allowed)
            self._look_after()
            self._over.wait(LOOK)

    def _undecided(self) -> int | None:
        """How many tasks are open; None if the database does not say."""
        with suppress(SQLAlchemyError), self._engine() as engine, engine.connect() as connection:
            return tables.open_tasks(connection, [topic.name for topic in self.plan.topics])
        return None

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        # Anew each time, because the server may be another; and without a transaction, which would lock SQLite.
        engine = task_sql.create_engine(self.admin_url, isolation_level="AUTOCOMMIT")
        try:
            yield engine
        finally:
            engine.dispose()

    def _strike(self) -> None:
        """Strike until there is enough, and then in calm."""
        plan = self.plan
        while not any(member.heard["done"] for member in self.members):
            if self._enough.wait(LOOK):  # nothing breaks before it works
                return
        last = time.monotonic()
        for strike in plan.strikes():
            if self._enough.wait(max(0.0, last + strike.pause - time.monotonic())):
                break
            last = time.monotonic()
            self._blow(strike)
        for strike in plan.calm_strikes():
            if self._over.wait(strike.pause):
                return
            self._blow(strike, calm=True)
        if plan.calm:
            self._over.wait(plan.quiet)

    def _blow(self, strike: Strike, *, calm: bool = False) -> None:
        with self._striking:
            begin = time.monotonic() - self._start
            try:
                story = FAULTS[strike.fault].strike(self, strike.chance)
            except Exception as error:  # noqa: BLE001 - the run goes on, and is no success
                story = f"could not be done: {error!r}"
                self._problems.append((strike.fault, story))
            self._blows.append(Blow(strike.fault, begin, time.monotonic() - self._start, story, calm))

    def _look_after(self) -> None:
        """Insist that nobody ends by himself."""
        if not self._striking.acquire(blocking=False):
            return
        try:
            for member in self.members:
                if not member.alive and member.allowed >= 0:
                    self._problems.append((member.name, f"ended by itself: {member.diary()}"))
                    member.kill()
                    member.restart()
        finally:
            self._striking.release()

    def _end(self, kind: str) -> None:
        members = [member for member in self.members if member.kind == kind]
        for member in members:
            with suppress(OSError):
                member.ask()
        for member in members:
            if code := member.end(self.plan.patience):
                self._problems.append((member.name, f"ended with {code}: {member.diary()}"))

    def _drain(self) -> None:
        """Wait until all is decided; what is not by then, the auditor finds."""
        deadline = time.monotonic() + self.plan.patience
        while self._undecided() != 0 and time.monotonic() < deadline:
            self._look_after()
            time.sleep(LOOK)

    def _rest(self, proof: sqlite3.Connection) -> None:
        """Look for sessions and locks that outlast the work."""
        for table, look in (("session", self._stage.sessions), ("lock", self._stage.locks)):
            deadline = time.monotonic() + self.plan.settling
            while (found := look()) and time.monotonic() < deadline:
                time.sleep(LOOK)
            evidence.add(proof, table, found)

    def _judge(self, proof: sqlite3.Connection, outcome: Outcome) -> None:
        evidence.collect(proof, self.plan, self.admin_url, self.folder)
        evidence.add(proof, "member", self._problems)
        evidence.finish(proof)
        outcome.complaints = auditor.audit(proof)
        [(outcome.tasks,)] = proof.execute("SELECT count(DISTINCT sequence) FROM note")
        proof.close()
        outcome.blows = self._blows
        outcome.lost = sum(member.heard["lost"] for member in self.members)
