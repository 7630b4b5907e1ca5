"""
The folder that detached processes share: their logs, and a file for each that runs.

A process holds the lock on its file for its whole life, so that nobody has to ask whether it is alive, and a number
that the system gave to another process is never taken for it. Looking and starting take turns, so that nobody who
looks stands in the way of one who starts.
"""

import errno
import json
import os
import secrets
import signal
import socket
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

from task_api import OWNER_LENGTH, InvalidTaskError, Task

from .errand import Errand
from .lock import held_lock, require_locks, try_lock

__all__ = ["DetachedFolder", "DetachedLog", "DetachedProcess", "detached_log", "detached_owner"]

_TURN: Final = ".lock"
_RUNNING: Final = ".run"
_LOG: Final = ".log"
_PREFIX: Final = "detached"
_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachedProcess:
    """A detached process that runs, as it described itself at its start."""

    topic: str
    """The topic of its task."""
    sequence: int
    """The task's sequence."""
    identifier: str
    """What the task is about."""
    function: str
    """What it runs."""
    owner: str
    """The owner that it beats for."""
    host: str
    """The machine that it runs on."""
    pid: int
    """Its number there, which is its group's and session's too."""
    born: str | None
    """When the system says that it started, as far as it says so."""
    started: datetime
    """When that was, in UTC."""
    log: Path
    """Where its output goes."""

    @classmethod
    def own(cls, errand: Errand, owner: str) -> Self:
        """Describe the process that calls."""
        return cls(
            topic=errand.topic,
            sequence=errand.sequence,
            identifier=errand.identifier,
            function=errand.function,
            owner=owner,
            host=_host(),
            pid=os.getpid(),
            born=_born(os.getpid()),
            started=datetime.now(UTC),
            log=_log(errand.logs, errand.topic, errand.sequence),
        )

    @property
    def here(self) -> bool:
        """Whether it runs, or ran, on this machine."""
        return self.host == _host()

    def stop(self) -> None:
        """
        Ask it to give its task back and end.

        Raises:
            ProcessLookupError: it is gone, or on another machine.

        """
        self._require()
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """
        End it and its group at once; its task expires when its heartbeat is missed.

        Raises:
            ProcessLookupError: it is gone, or on another machine.

        """
        self._require()
        os.killpg(self.pid, signal.SIGKILL)

    def write(self, file: int) -> None:
        """Store the description in the file that the process has locked."""
        fields = {**asdict(self), "started": self.started.isoformat(), "log": str(self.log)}
        text = json.dumps(fields).encode()
        if os.pwrite(file, text, 0) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @classmethod
    def read(cls, file: int) -> Self | None:
        """Return what a file describes, or None if its process has not come so far."""
        try:
            fields: dict[str, Any] = json.loads(os.pread(file, os.fstat(file).st_size, 0))
        except ValueError:
            return None
        started, log = datetime.fromisoformat(fields.pop("started")), Path(fields.pop("log"))
        return cls(started=started, log=log, **fields)

    def _require(self) -> None:
        if not self.here:
            message = f"it runs on {self.host}, this is {_host()}"
            raise ProcessLookupError(message)
        if _born(self.pid) != self.born:
            message = f"process {self.pid} is gone"
            raise ProcessLookupError(message)


class DetachedFolder:
    """
    Knows the detached processes whose logs are in a folder.

    Args:
        path: The folder; it is made if it is not there.

    Raises:
        InvalidTaskError: nothing can be written there.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        require_locks()
        try:
            self.path = Path(path).absolute()
            """Where it is."""
            self.path.mkdir(parents=True, exist_ok=True)
            with held_lock(self.path / _TURN):
                pass
        except (OSError, TypeError) as error:
            message = f"logs must name a folder that can be written to, not {path!r}: {error}"
            raise InvalidTaskError(message) from error

    def log(self, topic: str, sequence: int) -> Path:
        """Where the output of a task's processes goes."""
        return _log(self.path, topic, sequence)

    def count(self) -> int:
        """How many processes run, those that have just begun included."""
        with held_lock(self.path / _TURN):
            return len(self._scan())

    def running(self) -> list[DetachedProcess]:
        """The processes that run, in the order of their start."""
        with held_lock(self.path / _TURN):
            found = self._scan()
        return sorted((each for each in found if each is not None), key=lambda each: each.started)

    def reserve(self, topic: str, task: Task, limit: int) -> int | None:
        """Return the open, locked file of a process that is about to start, or None if so many run already."""
        with held_lock(self.path / _TURN):
            if len(self._scan()) >= limit:
                return None
            name = f"{_stem(topic, task.sequence)}.{task.token}.{secrets.token_hex(4)}{_RUNNING}"
            file = os.open(self.path / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                try_lock(file)
            except BaseException:
                os.close(file)
                raise
            return file

    def _scan(self) -> list[DetachedProcess | None]:
        """Describe what runs, and remove what the dead left."""
        found = list[DetachedProcess | None]()
        for path in [path for path in self.path.iterdir() if path.suffix == _RUNNING]:
            file = os.open(path, os.O_RDWR)
            try:
                if try_lock(file):
                    path.unlink()
                else:
                    found.append(DetachedProcess.read(file))
            finally:
                os.close(file)
        return found


@dataclass(frozen=True, slots=True)
class DetachedLog:
    """Where the output of a task's detached processes is."""

    host: str
    """The machine that the last of them ran on."""
    path: Path
    """The file there."""

    def __str__(self) -> str:
        return str(self.path) if self.host == _host() else f"{self.host}:{self.path}"


def detached_owner(folder: Path) -> str:
    """Return a name for a detached process to claim its task under, from which its log can be told."""
    owner = f"{_PREFIX}:{_host()}:{os.getpid()}:{secrets.token_hex(4)}:"
    return f"{owner}{folder}" if len(owner) + len(str(folder)) <= OWNER_LENGTH else owner


def detached_log(owner: str | None, topic: str, sequence: int) -> DetachedLog | None:
    """Return the log of a task that this owner claimed last, or None if that was no detached process."""
    match (owner or "").split(":", 4):
        case [prefix, host, _, _, folder] if prefix == _PREFIX and folder:
            return DetachedLog(host, _log(Path(folder), topic, sequence))
        case _:
            return None


def _host() -> str:
    return socket.gethostname().replace(":", "-")[:_NAME_LENGTH]


def _log(folder: Path, topic: str, sequence: int) -> Path:
    return folder / f"{_stem(topic, sequence)}{_LOG}"


def _stem(topic: str, sequence: int) -> str:
    name = quote(topic, safe="")
    if len(name) > _NAME_LENGTH:
        name = f"{name[:_NAME_LENGTH]}~{sha256(topic.encode()).hexdigest()[:8]}"
    return f"{name}-{sequence}"


def _born(pid: int) -> str | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # gone, or a system that has no such files
        return None
    # The 22nd field; the second may hold anything in its parentheses.
    return status.rpartition(")")[2].split()[19]
