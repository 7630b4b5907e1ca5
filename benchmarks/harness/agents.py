"""The processes in which adapters run, seen from the harness."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

__all__ = ["Agent", "AgentError", "Agents"]

_AGENT: Final = Path(__file__).resolve().parent.parent / "agent.py"
_PATIENCE: Final = 120.0
_FAREWELL: Final = 20.0


class AgentError(Exception):
    """An adapter failed, or did not answer."""


class Agent:
    """One process with one adapter."""

    def __init__(self, process: int, connection: Connection) -> None:
        self.process = process
        self.connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(kill=error is not None)

    def call(self, name: str, *, timeout: float = _PATIENCE, **arguments: Any) -> Any:  # noqa: ANN401 - what it gives
        """Have the adapter do something, and return what came of it."""
        self.send(name, **arguments)
        return self.receive("done", timeout)

    def send(self, name: str, **arguments: Any) -> None:
        """Ask the adapter to do something."""
        self.connection.send((name, arguments))

    def receive(self, expected: str, timeout: float = _PATIENCE) -> Any:  # noqa: ANN401 - what it gives
        """Wait for an answer of this kind, past reports of progress."""
        while True:
            if not self.connection.poll(timeout):
                message = f"no answer within {timeout:g} s"
                raise AgentError(message)
            kind, value = self.read()
            if kind == expected:
                return value

    def read(self) -> tuple[str, Any]:
        """Read what has come."""
        try:
            kind, value = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            message = "the process ended"
            raise AgentError(message) from error
        if kind == "error":
            raise AgentError(value)
        return kind, value

    def close(self, *, kill: bool = False) -> None:
        """Let the adapter close, or end it at once."""
        if not kill:
            with suppress(OSError):
                # The process hangs up when it has closed everything.
                with socket.socket(fileno=os.dup(self.connection.fileno())) as half:
                    half.shutdown(socket.SHUT_WR)
                kill = not self._hung_up()
        if kill:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
        self.connection.close()

    def _hung_up(self) -> bool:
        with suppress(EOFError, OSError):
            while self.connection.poll(_FAREWELL):
                self.connection.recv()
            return False
        return True


class Agents:
    """The processes that bring forth agents, one for each environment, each started when it is first needed."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._started: dict[str, tuple[subprocess.Popen[bytes], socket.socket, IO[bytes]]] = {}

    def start(self, python: str, adapter: str, target: str, options: Mapping[str, Any]) -> Agent:
        """Start an agent in the environment of this interpreter."""
        channel = self._channel(python)
        ours, theirs = socket.socketpair()
        with theirs:
            request = json.dumps({"adapter": adapter, "target": target, "options": dict(options)})
            socket.send_fds(channel, [request.encode()], [theirs.fileno()])
        answer = channel.recv(64)
        if not answer:
            message = f"{python} ended; see {self._log(python)}"
            raise AgentError(message)
        agent = Agent(int(answer), Connection(ours.detach()))
        try:
            agent.receive("done")
        except BaseException:
            agent.close(kill=True)
            raise
        return agent

    def close(self) -> None:
        """End those processes."""
        for process, channel, log in self._started.values():
            channel.close()
            process.wait(_FAREWELL)
            log.close()
        self._started.clear()

    def _channel(self, python: str) -> socket.socket:
        if python not in self._started:
            ours, theirs = socket.socketpair()
            log = self._log(python).open("ab")
            process = subprocess.Popen(  # noqa: S603 - an interpreter of our own
                [python, str(_AGENT), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONWARNINGS": "ignore"},
            )
            theirs.close()
            self._started[python] = process, ours, log
        return self._started[python][1]

    def _log(self, python: str) -> Path:
        return self._logs / f"{Path(python).parent.parent.name}.log"
