"""The processes of a fleet as the test sees them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fleet.assignment import Assignment

ROOT = Path(__file__).resolve().parent.parent.parent
# The root folder comes last, so that the packages still come from where they are installed.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from tests.fleet.member import main; main(sys.argv[2])"
PATIENCE = 150.0
"""Seconds after which any wait has failed; the machine may be busy with other things."""
_LOOK = 0.02


def eventually(condition: Callable[[], bool], complaint: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, complaint()
        time.sleep(_LOOK)


class Hand:
    """One process."""

    def __init__(self, assignment: Assignment, log: Path) -> None:
        self.owner = assignment.owner
        self.log = log
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-W", "error", "-c", PROGRAM, str(ROOT), assignment.dump()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=log.parent,
            )
        self._changed = threading.Condition()
        self._heard: list[tuple[str, list[int]]] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def heard(self, word: str) -> list[list[int]]:
        """The tasks that it has named with a word so far."""
        with self._changed:
            return [tasks for said, tasks in self._heard if said == word]

    def expect(self, word: str) -> list[int]:
        """Wait until it says a word, and give the tasks that it names first."""
        with self._changed:
            said = self._changed.wait_for(lambda: any(word == heard for heard, _ in self._heard), PATIENCE)
        assert said, f"{self.owner} never said {word!r}:\n{self.diary()}"
        return self.heard(word)[0]

    def rests(self, decided: int) -> None:
        """Wait until it has decided so many tasks, and found nothing afterwards."""

        def resting() -> bool:
            last = max((place for place, (word, _) in enumerate(self._heard) if word == "decided"), default=-1)
            done = sum(len(tasks) for word, tasks in self._heard if word == "decided")
            return done == decided and any(word == "empty" for word, _ in self._heard[last + 1 :])

        with self._changed:
            rested = self._changed.wait_for(resting, PATIENCE)
        assert rested, f"{self.owner} never rested after {decided} tasks:\n{self.diary()}"

    def go_on(self) -> None:
        """Let it go on where it stalled."""
        pipe: Any = self._process.stdin
        pipe.write("go on\n")
        pipe.flush()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def freeze(self) -> None:
        """Stop it with SIGSTOP, whatever it does, and wait for that."""
        self._process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"{self.owner} ended:\n{self.diary()}"

    def kill(self) -> None:
        """End it with SIGKILL, whatever it does, and wait for that."""
        self._process.kill()
        self._end()

    def end(self, patience: float = PATIENCE) -> int:
        """Ask it to end, and give its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait(patience)

    def wait(self, patience: float = PATIENCE) -> int:
        """Wait for its end, and give its exit code."""
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            message = f"{self.owner} does not end:\n{self.diary()}"
            raise AssertionError(message) from None
        self._end()
        return code

    def diary(self) -> str:
        """What it wrote to its log."""
        return self.log.read_text(errors="replace")[-8000:]

    def _listen(self) -> None:
        output: Any = self._process.stdout
        for line in output:
            word, _, tasks = line.partition(" ")
            with self._changed:
                self._heard.append((word, json.loads(tasks)))
                self._changed.notify_all()

    def _end(self) -> None:
        self._process.wait(PATIENCE)
        self._listener.join(PATIENCE)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class Crew:
    """All processes of one test, none of which outlives it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hands: list[Hand] = []

    def hire(self, assignment: Assignment) -> Hand:
        """Start a process."""
        hand = Hand(assignment, self._folder / f"{len(self._hands)}-{assignment.owner}.log")
        self._hands.append(hand)
        return hand

    def dismiss(self) -> None:
        """End what is left, without mercy."""
        for hand in self._hands:
            hand.kill()
