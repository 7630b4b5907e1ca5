"""A process as the conductor sees it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fire.plan import Plan

ROOT = Path(__file__).resolve().parent.parent.parent
# The root folder comes last, so that the packages still come from where they are installed.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from tests.fire.program import main; main(sys.argv[2:])"
PATIENCE = 60.0


class Process:
    """One of the processes, which may be started several times."""

    def __init__(self, plan: Plan, kind: str, number: int, url: str, folder: Path) -> None:
        self.kind = kind
        self.number = number
        self.heard: Counter[str] = Counter()
        self.said: list[tuple[float, int]] = []
        """When so many tasks were done."""
        self.starts = 0
        self.name = ""
        self.allowed = 0
        self._plan = plan
        self._url = url
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._telling = threading.Lock()
        self._base = 0
        self.restart()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> Path:
        """What it writes to."""
        return self._folder / f"{self.kind}-{self.number}.log"

    def restart(self) -> None:
        """Start it, most often under a new name, as owners do that were given none."""
        chance = self._plan.chance("name", self.kind, self.number, self.starts)
        if not self.name or self.kind == "producer" or chance.random() < 0.7:
            self.name = f"{self.kind}-{self.number}-{self.starts}"
        self.starts += 1
        arguments = [self.kind, self._plan.dump(), str(self.number), self.name, self._url]
        with self.log.open("ab") as stderr:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-c", PROGRAM, str(ROOT), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=self._folder,
            )
        self._base = self.heard["pushed"]
        self._listener = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        self._listener.start()
        self.tell(self.allowed)

    def tell(self, allowed: int) -> None:
        """Tell a producer how many tasks it may have pushed in all; a negative number ends it."""
        self.allowed = allowed
        if self.kind != "producer":
            return
        pipe: Any = self._process.stdin if self._process else None
        # One that was killed a moment ago is told again when it is restarted.
        with self._telling, suppress(OSError, ValueError):
            pipe.write(f"{max(0, allowed - self._base) if allowed >= 0 else allowed}\n")
            pipe.flush()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it with SIGKILL, whatever it does, and wait for that."""
        assert self._process is not None
        self._process.kill()
        self._end(PATIENCE)

    def ask(self) -> None:
        """Ask it to end."""
        if self.kind == "producer":
            self.tell(-1)
        else:
            self.send(signal.SIGTERM)

    def end(self, patience: float) -> int:
        """Wait for its end, and give its exit code."""
        try:
            return self._end(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGALRM

    def diary(self) -> str:
        """The end of what it wrote to its log."""
        return self.log.read_text(errors="replace")[-3000:]

    def _end(self, patience: float) -> int:
        assert self._process is not None
        code = self._process.wait(patience)
        if self._listener is not None:
            self._listener.join(patience)
        for pipe in (self._process.stdin, self._process.stdout):
            # What was told may not have been read any more.
            with self._telling, suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return code

    def _listen(self, output: Any) -> None:  # noqa: ANN401 - a pipe
        for line in output:
            word, _, number = line.partition(" ")
            if not number.endswith("\n"):
                break  # killed in the midst of it
            self.heard[word] += int(number)
            if word == "done":
                self.said.append((time.monotonic(), int(number)))
