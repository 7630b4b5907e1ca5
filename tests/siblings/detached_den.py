"""Detached processes as a test sees them, none of which outlives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from task_processor.detached.errand import Errand
from task_processor.detached.exit import DetachedExit
from task_processor.detached.factory import DetachedTaskHandlerFactory

if TYPE_CHECKING:
    from collections.abc import Callable

    from task_api import Task
    from task_processor.detached.folder import DetachedProcess
    from tests.backends import Backend

JOBS: Final = "tests.siblings.detached_jobs"
ROOT: Final = Path(__file__).resolve().parent.parent.parent
PATIENCE: Final = 60.0
_LOOK: Final = 0.02
_CONTROLLER: Final = (
    "import sys; sys.path.append(sys.argv[1]); from tests.siblings.detached_controller import main; main(sys.argv[2])"
)


class Den:
    """Where the processes of one test write down what they do."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self.url = backend.url
        self.path = folder / "den"
        self.path.mkdir()
        self.logs = folder / "logs"
        # What is imported here says so, which only processes of the test are to do.
        self.folder = self.factory("quick").folder
        (self.path / "notes").unlink(missing_ok=True)
        self._children: list[subprocess.Popen[bytes]] = []
        self._controllers: list[subprocess.Popen[bytes]] = []

    def factory(self, function: str, **options: Any) -> DetachedTaskHandlerFactory:
        """A factory for one of the jobs."""
        given = {"url": self.url, "logs": self.logs, "limit": 5, **options}
        return DetachedTaskHandlerFactory(f"{JOBS}:{function}", **given)

    def child(self, function: str, task: Task, topic: str = "topic", **options: Any) -> subprocess.Popen[bytes]:
        """Start a process as a handler would, without one."""
        lock = self.folder.reserve(topic, task, 100)
        assert lock is not None
        _, answer = pipe = os.pipe()
        given: dict[str, Any] = {
            "url": self.url,
            "function": f"{JOBS}:{function}",
            "heartbeat": 10.0,
            "expiry": 60.0,
            "grace": 60.0,
            "lease": None,
            "retry": None,
            **options,
        }
        errand = Errand(
            topic=topic,
            sequence=task.sequence,
            identifier=task.identifier,
            token=task.token,
            paths=sys.path,
            folder=str(self.logs),
            lock=lock,
            answer=answer,
            **given,
        )
        with self.folder.log(topic, task.sequence).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-u", "-P", "-m", "task_console.detached", "a test"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(lock, answer),
                start_new_session=True,
            )
        self._children.append(process)
        for file in (lock, *pipe):
            os.close(file)
        assert process.stdin is not None
        with process.stdin:
            process.stdin.write(errand.dump())
        return process

    def ends(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for the end of such a process, and give its exit code by name."""
        code = process.wait(PATIENCE)
        return DetachedExit(code) if code >= 0 else code

    def controller(self, function: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a worker in a process of its own, which ends with the test."""
        given = {"url": self.url, "logs": str(self.logs), "function": f"{JOBS}:{function}", "limit": 5, **options}
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-c", _CONTROLLER, str(ROOT), json.dumps(given)], stdin=subprocess.PIPE
        )
        self._controllers.append(process)
        return process

    def notes(self, word: str = "") -> list[str]:
        """What the work has written down so far, imports aside."""
        file = self.path / "notes"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if line.startswith(word) and not line.startswith("imported")]

    def imports(self) -> int:
        """How many processes have come so far as to import the jobs."""
        file = self.path / "notes"
        return file.read_text().count("imported") if file.exists() else 0

    def expect(self, word: str, number: int = 1) -> list[str]:
        """Wait until the work has written so many lines that begin so."""
        self.eventually(lambda: len(self.notes(word)) >= number)
        return self.notes(word)

    def go(self) -> None:
        """Let the work end."""
        (self.path / "go").touch()

    def running(self) -> DetachedProcess:
        """The one process that runs."""
        self.eventually(lambda: len(self.folder.running()) == 1)
        return self.folder.running()[0]

    def log(self, task: Task, topic: str = "topic") -> str:
        """What the processes of a task have said."""
        return self.folder.log(topic, task.sequence).read_text()

    def eventually(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"it never happened:\n{self._diary()}"
            time.sleep(_LOOK)

    def clear(self) -> None:
        """End what is left, without mercy."""
        self.go()
        for process in self._controllers:
            process.kill()
        deadline = time.monotonic() + PATIENCE
        while self.folder.count():
            for left in self.folder.running():
                with suppress(ProcessLookupError):
                    left.kill()
            assert time.monotonic() < deadline, f"detached processes are left:\n{self._diary()}"
            time.sleep(_LOOK)
        for process in (*self._controllers, *self._children):
            process.wait(PATIENCE)
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.close()
        for thread in threading.enumerate():
            if thread.name.startswith("task-detached-"):
                thread.join(PATIENCE)

    def _diary(self) -> str:
        logs = sorted(self.logs.glob("*.log"))
        return "\n".join([*self.notes(), *(f"{log.name}:\n{log.read_text()}" for log in logs)])
