"""``topiq work``: a worker of the user's runs, logs and ends as it is told."""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import pytest

from tests.backends.steps import push
from tests.console.calls import COMMAND, environment, failure, invoke

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]

SHOP = """
import os
from datetime import timedelta
from task_processor import TaskManager, Worker, each
from task_sql import create_engine, create_repository

def ship(task):
    if task.identifier == "bad":
        raise ValueError("it broke")
    if task.identifier == "stuck":
        print("stuck", flush=True)
        import time
        time.sleep(600)

def worker(engine):
    tasks = create_repository(engine, owner="shop")
    pause = timedelta(milliseconds=20)
    return Worker(tasks, engine.begin, [TaskManager("topic", tasks, engine.begin, each(ship), size=1, pause=pause)])

def by_environment():
    return worker(create_engine(os.environ["TOPIQ_URL"]))

def broken():
    return 1 / 0

def demanding(engine, more):
    pass

number = 5
"""
_PATIENCE = 60


class Running:
    """A worker in a process of its own, with the lines that it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: queue.Queue[str] = queue.Queue()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self.lines.put(line)

    def until(self, words: str) -> str:
        """Wait for a line that holds these words."""
        said = []
        while True:
            try:
                said.append(self.lines.get(timeout=_PATIENCE))
            except queue.Empty:
                pytest.fail(f"{words!r} was not said: {said}")
            if words in said[-1]:
                return said[-1]

    def end(self, number: signal.Signals) -> int:
        """Send a signal, and wait for the exit code."""
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a module of the user's."""
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


@contextmanager
def working(folder: Path, url: str, *arguments: str) -> Iterator[Running]:
    """Run a worker in a folder."""
    with subprocess.Popen(  # noqa: S603 - ours
        [*COMMAND, "work", *arguments],
        cwd=folder,
        env=environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


@pytest.mark.parametrize("target", ["shop", "shop:worker", "shop:by_environment"])
def test_a_worker_works_until_it_is_terminated(  # noqa: PLR0917 - fixtures
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, shop: Path, target: str
) -> None:
    """Tasks are decided; SIGTERM ends it with exit code 0, and each step is a line of the log."""
    push(backend, repository, topic, "a", "bad")
    with working(shop, topiq.url, target, "--report", "100ms") as running:
        assert " INFO " in running.until("runs: topic")
        # The last of the two, in one report with the first or in the next.
        assert " decided, of which " in running.until("1 failed and 0 will be retried")
        assert running.end(signal.SIGTERM) == 0
        running.until("has ended")
    counts = topiq.json("count")[topic]
    assert (counts["SUCCEEDED"]["count"], counts["FAILED"]["count"]) == (1, 1)


def test_a_module_finds_the_url_in_its_environment(topiq: Topiq, shop: Path, topic: str) -> None:
    """Also if it was given as an option."""
    with working(shop, "sqlite:///nowhere.db", "shop:by_environment", "--url", topiq.url) as running:
        running.until("runs: " + topic)
        assert running.end(signal.SIGTERM) == 0


def test_an_interrupt_ends_it_well(topiq: Topiq, shop: Path, topic: str) -> None:
    """Ctrl-C does what SIGTERM does; with --json each line of the log is an object."""
    with working(shop, topiq.url, "shop", "--json") as running:
        line = json.loads(running.until("runs: " + topic))
        assert (line["level"], line["logger"]) == ("INFO", "task_processor")
        assert line["time"].endswith("Z")
        assert running.end(signal.SIGINT) == 0


def test_a_second_signal_gives_back_what_is_stuck(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, shop: Path
) -> None:
    """The task is READY for somebody else, and the process ends at once."""
    push(backend, repository, topic, "stuck")
    with working(shop, topiq.url, "shop") as running:
        running.until("stuck")
        running.process.send_signal(signal.SIGTERM)
        running.until("stopping")
        assert running.end(signal.SIGTERM) == 0
    assert topiq.json("count")[topic]["READY"]["count"] == 1


def test_a_missing_topic_is_told(topiq: Topiq, shop: Path) -> None:
    """With the command that makes it."""
    with working(shop, topiq.url, "shop") as running:
        assert running.until("Error") == "Error: there is no topic 'topic'; make it with `topiq init topic`\n"
        assert running.process.wait(_PATIENCE) == 5


def test_a_missing_schema_is_told(topiq: Topiq, shop: Path) -> None:
    """In one line, with its exit code."""
    topiq("schema", "uninstall", "--yes")
    with working(shop, topiq.url, "shop") as running:
        assert "no topiq schema" in running.until("Error")
        assert running.process.wait(_PATIENCE) == 4


@pytest.mark.parametrize(
    ("target", "code", "reason"),
    [
        ("shop:number", 2, "shop:number is of type int, not a task_processor.Worker nor a function that makes one"),
        ("shop:nothing", 2, "shop has no 'nothing'; name the worker as in topiq work shop:worker"),
        ("shop:demanding", 2, "shop:demanding can't make a worker: it takes 2 arguments"),
        ("shop:broken", 1, "shop:broken failed: ZeroDivisionError: division by zero ("),
        ("missing", 2, "there is no module 'missing' in "),
        (":worker", 2, "':worker' names no module; name the worker as in topiq work shop:worker"),
        ("", 2, "'' names no module; "),
        (".shop:worker", 2, "'.shop:worker' names no module; "),
        ("shop..sub", 2, "'shop..sub' names no module; "),
        ("shop.py:worker", 2, "a module is named without .py; write topiq work shop:worker"),
        ("shop.py", 2, "a module is named without .py; write topiq work shop:worker"),
        ("shop.sub:worker", 2, "there is no module 'shop.sub' in "),
        ("faulty:worker", 1, "faulty can't be imported: SyntaxError: "),
        ("needy:worker", 1, "needy can't be imported: ModuleNotFoundError: No module named 'not_there'"),
    ],
)
def test_mistakes_are_told(  # noqa: PLR0917 - fixtures
    topiq: Topiq, shop: Path, monkeypatch: pytest.MonkeyPatch, target: str, code: int, reason: str
) -> None:
    """Each in one line; what the user's own code raised says where."""
    (shop / "faulty.py").write_text("def")
    (shop / "needy.py").write_text("import not_there")
    with isolated(shop, monkeypatch):
        found, line = failure(invoke("work", target, url=topiq.url))
    assert (found, line[: len(reason)]) == (code, reason)


def test_a_worker_that_needs_a_database_is_told_none(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a function that takes the engine needs a URL."""
    with isolated(shop, monkeypatch):
        code, line = failure(invoke("work", "shop:worker"))
    assert code == 2
    assert line.startswith("no database: pass --url or set TOPIQ_URL")


@contextmanager
def isolated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Import from a folder in this process, and leave nothing of that behind."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    modules = set(sys.modules)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(os, "environ", os.environ.copy())
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        logging.captureWarnings(capture=False)
        for name in set(sys.modules) - modules:
            if name in ("shop", "faulty", "needy"):
                del sys.modules[name]
