"""One system in one measurement: its database, its processes, and what can be done with them."""

import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Final

from .agents import Agent, AgentError, Agents
from .catalogue import Database, System
from .scale import Scale
from .server import Cost, Server
from .venvs import Venvs

__all__ = ["Drained", "Place", "Subject"]

_IDLE: Final = 10.0
"""How many seconds without progress end a drain: some queues take their time to begin."""
_FILL: Final = 60.0
_ENDING: Final = 60.0


@dataclass(frozen=True)
class Place:
    """Where measurements take place."""

    server: Server | None
    folder: Path
    agents: Agents
    venvs: Venvs
    scale: Scale


@dataclass(frozen=True)
class Drained:
    """What came of a drain."""

    number: int
    """How many tasks were handled."""
    seconds: float
    ages: list[float]
    """How many seconds old each task was, if that was asked for."""
    sizes: list[int]
    """The first worker's bytes of memory, if that was asked for."""
    left: int | None
    """How many tasks the queue says are left, if it can tell."""
    wal: float | None
    """How many bytes the server wrote to its log."""
    server: float | None
    """How many seconds of processor time the server took."""
    client: float
    """How many seconds of processor time the workers took."""

    @property
    def rate(self) -> float:
        """Tasks in a second."""
        return self.number / self.seconds if self.seconds else 0.0


class Subject:
    """A system with an empty queue in a database of its own."""

    def __init__(self, system: System, place: Place) -> None:
        self.system = system
        self.scale = place.scale
        self._place = place
        self._python = place.venvs.python(system.venv)
        self._name = system.family
        self._target = ""

    @property
    def number(self) -> int:
        """How many tasks it is given to drain."""
        return self.scale.drain or self.system.drain

    def fresh(self, **options: Any) -> None:
        """Begin with an empty queue in a new database."""
        self._target = self._create(self._name, None)
        with self.agent(**options) as agent:
            agent.call("setup")

    def prepare(self, finished: int) -> None:
        """Make a database with so many finished tasks, to be copied, if there is none."""
        template = self._template(finished)
        if not self._exists(template):
            name, self._name = self._name, template
            self.fresh()
            self.fill(finished, limit=float("inf"))
            self.drain(finished, limit=float("inf"))
            self.tidy()
            self._name = name

    def prepared(self, finished: int) -> None:
        """Begin with so many finished tasks in a new database, a copy of the one that was prepared."""
        self._target = self._create(self._name, self._template(finished))

    def drop(self) -> None:
        """Remove the database."""
        if self.system.database is Database.SQLITE:
            shutil.rmtree(self._folder(self._name), ignore_errors=True)
        else:
            self._server.drop(self._name)

    @contextmanager
    def agent(self, **options: Any) -> Iterator[Agent]:
        """A process with the system's adapter."""
        chosen = {**self.system.options, **options}
        with self._place.agents.start(self._python, self.system.adapter, self._target, chosen) as agent:
            yield agent

    def fill(self, number: int, *, limit: float = _FILL, **options: Any) -> int:
        """Push so many tasks, or as many as the time allows, and return how many."""
        with self.agent(**options) as agent:
            done = agent.call("push_bulk", number=number, size=min(number, self.scale.chunk), limit=limit, timeout=3600)
        return int(done["number"])

    def tidy(self) -> None:
        """Have the server clean up."""
        if self.system.database is Database.POSTGRESQL:
            self._server.tidy(self._target)

    def snapshot(self, *, held: bool) -> AbstractContextManager[None]:
        """Hold a snapshot, if so."""
        return self._server.snapshot(self._target) if held else nullcontext()

    def drain(
        self, number: int, workers: int = 1, *, limit: float | None = None, memory: int = 0, **options: Any
    ) -> Drained:
        """Have so many tasks drained by workers that are let go at once."""
        before = self.cost()
        with self.workers(workers, memory=memory, **options) as agents:
            results = self.finish(agents, number, self.scale.limit if limit is None else limit)
            after = self.cost()
            with self.agent() as other:
                left = other.call("unfinished")["value"]
        return _summary(results, left, before, after)

    def cost(self) -> Cost | None:
        """What the server has spent so far, if there is one."""
        return self._server.cost() if self.system.database is Database.POSTGRESQL else None

    def spent(self, before: Cost | None) -> float | None:
        """The server's processor time since then, in seconds, if it can be told."""
        return _since(before, self.cost())

    @contextmanager
    def workers(self, number: int, *, latency: bool = False, memory: int = 0, **options: Any) -> Iterator[list[Agent]]:
        """Workers that have begun."""
        agents: list[Agent] = []
        error = True
        try:
            crowded = self.system.crowded if number > 1 else {}
            for _ in range(number):
                chosen = {**self.system.options, **crowded, **options}
                agents.append(self._place.agents.start(self._python, self.system.adapter, self._target, chosen))
                agents[-1].send("work", latency=latency, memory=memory)
            for agent in agents:
                agent.receive("ready")
            for agent in agents:
                agent.connection.send("go")
            yield agents
            error = False
        finally:
            for agent in agents:
                agent.close(kill=error)

    @staticmethod
    def progress(agents: list[Agent], number: int, limit: float) -> None:
        """Wait until so many tasks were handled, time runs out, or nothing happens any more."""
        done = dict.fromkeys(agents, 0)
        begun, idle_since = None, time.monotonic()
        while sum(done.values()) < number:
            now = time.monotonic()
            if now > idle_since + _IDLE or (begun is not None and now > begun + limit):
                return
            ready = wait([agent.connection for agent in agents], timeout=0.1)
            for agent in agents:
                if agent.connection in ready:
                    kind, value = agent.read()
                    if kind == "progress":
                        done[agent] = value
                        idle_since = time.monotonic()
                        begun = begun or idle_since

    def finish(self, agents: list[Agent], number: int, limit: float) -> list[dict[str, Any]]:
        """Wait for the tasks, stop the workers, and return what each says."""
        self.progress(agents, number, limit)
        for agent in agents:
            agent.connection.send("stop")
        results = [agent.receive("done", _ENDING) for agent in agents]
        if not any(result["number"] for result in results):
            message = "no task was handled"
            raise AgentError(message)
        return results

    def _template(self, finished: int) -> str:
        return f"{self._name}_{finished}"

    @property
    def _server(self) -> Server:
        if self._place.server is None:
            message = "there is no server"
            raise RuntimeError(message)
        return self._place.server

    def _folder(self, name: str) -> Path:
        return self._place.folder / "sqlite" / name

    def _exists(self, name: str) -> bool:
        if self.system.database is Database.SQLITE:
            return self._folder(name).exists()
        return self._server.exists(name)

    def _create(self, name: str, template: str | None) -> str:
        if self.system.database is Database.POSTGRESQL:
            return self._server.create(name, template)
        folder = self._folder(name)
        shutil.rmtree(folder, ignore_errors=True)
        if template is None:
            folder.mkdir(parents=True)
        else:
            shutil.copytree(self._folder(template), folder)
        return str(folder / "queue.db")


def _summary(results: list[dict[str, Any]], left: int | None, before: Cost | None, after: Cost | None) -> Drained:
    worked = [result for result in results if result["number"]]
    return Drained(
        number=sum(result["number"] for result in worked),
        seconds=max(result["last"] for result in worked) - min(result["first"] for result in worked),
        ages=[age for result in worked for age in result["ages"]],
        sizes=results[0]["sizes"],
        left=left,
        wal=after.wal - before.wal if before and after else None,
        server=_since(before, after),
        client=sum(result["processor"] for result in results),
    )


def _since(before: Cost | None, after: Cost | None) -> float | None:
    if before is None or after is None or before.seconds is None or after.seconds is None:
        return None
    return after.seconds - before.seconds
