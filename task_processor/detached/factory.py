"""Work that outlives the worker which started it: each task in a process of its own."""

import io
import logging
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from task_api import Claim, InvalidTaskError, Task, TaskDecision

from ..deadline import Deadline, checked_duration, seconds
from ..handler import Callback, HandedOverError, OnFailure, TaskHandler, UnavailableError
from ..listener import LOGGER
from ..number import checked_number
from ..retry import RetryPolicy
from .errand import ANSWER, LONGEST, Errand, packed
from .exit import DetachedExit
from .folder import DetachedFolder
from .function import load_function
from .lock import PrivateFiles

__all__ = ["DetachedError", "DetachedTaskHandlerFactory"]

_PROGRAM: Final = ("-u", "-P", "-m", "task_console.detached")
_NOT_OURS: Final = (DetachedExit.DONE, DetachedExit.DUPLICATE, DetachedExit.MISSING)
"""Ends before the takeover after which there is nothing left to decide."""
_FILES: Final = PrivateFiles()
"""What only processes that are about to start are to have."""
_TAIL_LINES: Final = 20
_TAIL_BYTES: Final = 8192


class DetachedError(Exception):
    """A detached process ended before it took its task over; the end of its log is in the message."""


class DetachedTaskHandlerFactory:
    """
    Makes handlers that run each task in a process of its own session, which outlives the worker.

    The process takes the task over as an owner of its own, so that it goes on, beats, and decides the task whatever
    becomes of the worker: restart, deploy or crash. When the process itself dies, its task expires like that of any
    owner, and whoever polls it next goes on from its last checkpoint.

    The manager needs ``Claim.COMMITTED``. Tasks are polled one by one, and only while there is room for a process.
    What is said here about leases and times counts for the processes; the manager's own settings count until the task
    is taken over.

    Args:
        function: What works on a task, as ``module:function``: ``fn(task)`` or ``fn(task, checkpoint)``, plain or
            ``async def``; see `Checkpoint`. What it returns decides the task, as in `each`.
        url: The database, as SQLAlchemy writes it. It reaches the process through a pipe.
        logs: The folder for the output of the processes, a file for each task, and for knowing them again.
        limit: How many processes may run at once, counting all whose logs are in that folder, whoever started them.
        heartbeat: How often a process beats; seldom enough for a few processes, often enough for any worker's expiry.
        expiry: How long a process may be silent before it must take its task for lost; as in `Worker`.
        grace: How long a function may go on once it is to stop.
        lease: How long the claim of a process lasts unless it is extended, which it does by itself.
        retry: What becomes of a task whose function fails; by default what the manager says.
        patience: How long a process may take to take its task over.

    Raises:
        InvalidTaskError: something of that can't be, or the function can't be found or called.

    """

    def __init__(
        self,
        function: str,
        *,
        url: str,
        logs: str | os.PathLike[str],
        limit: int = os.cpu_count() or 1,
        heartbeat: timedelta = timedelta(milliseconds=500),
        expiry: timedelta = timedelta(minutes=1),
        grace: timedelta = timedelta(seconds=30),
        lease: timedelta | None = None,
        retry: RetryPolicy | None = None,
        patience: timedelta = timedelta(minutes=1),
    ) -> None:
        checked_number("limit", limit)
        checked_duration("heartbeat", heartbeat)
        if checked_duration("expiry", expiry) <= heartbeat:
            message = f"expiry must be longer than heartbeat, or living processes lose their tasks: {expiry}"
            raise InvalidTaskError(message)
        if lease is not None:
            checked_duration("lease", lease)
        load_function(function)
        self._limit = limit
        self._folder = DetachedFolder(logs)
        self._patience = checked_duration("patience", patience)
        self._settings = {
            "function": function,
            "url": _checked_url(url),
            "folder": str(self._folder.path),
            "heartbeat": min(heartbeat, lease / 4 if lease else heartbeat).total_seconds(),
            "expiry": expiry.total_seconds(),
            "grace": checked_duration("grace", grace, zero=True).total_seconds(),
            "lease": seconds(lease),
            "retry": packed(retry),
        }

    @property
    def folder(self) -> DetachedFolder:
        """Knows the processes, to list and end them."""
        return self._folder

    def __call__(self, topic: str) -> TaskHandler:
        """Make the handler of a topic."""
        return _DetachedHandler(topic, self._settings, self._folder, self._limit, self._patience)


class _DetachedHandler:
    def __init__(
        self, topic: str, settings: dict[str, Any], folder: DetachedFolder, limit: int, patience: timedelta
    ) -> None:
        self._topic = topic
        self._settings = settings
        self._folder = folder
        self._limit = limit
        self._patience = patience

    def use_retry(self, retry: RetryPolicy) -> None:
        """Let the manager's policy count in the processes, unless they have one of their own."""
        if self._settings["retry"] is None:
            self._settings = {**self._settings, "retry": packed(retry)}

    def room(self) -> int:
        """How many tasks it can take at present: one at a time, as each takes a while to be taken over."""
        return int(self._folder.count() < self._limit)

    def __call__(self, tasks: Sequence[Task], callback: Callback, on_failure: OnFailure, /) -> None:  # noqa: ARG002
        gone, failures, refusal = list[Task](), dict[Task, Exception](), None
        for task in tasks:
            try:
                self._start(task)
            except UnavailableError as error:
                refusal = error
                break
            except Exception as error:  # noqa: BLE001 - its task's failure
                failures[task] = error
            else:
                gone.append(task)
        if refusal is not None and not gone and not failures:
            raise refusal
        if len(failures) == len(tasks) == 1:
            raise failures[tasks[0]]
        raise HandedOverError(gone, {task: TaskDecision.failure(error) for task, error in failures.items()})

    def close(self) -> None:
        """Leave the processes alone: they go on."""

    def _start(self, task: Task) -> None:
        """Start a process for a task, and return when it has taken the task over."""
        if task.claim is not Claim.COMMITTED:
            message = "a detached process can only take over what others can see: use Claim.COMMITTED"
            raise UnavailableError(message)
        log = self._folder.log(self._topic, task.sequence)
        try:
            begin = log.stat().st_size if log.exists() else 0
            process, stream = self._launch(task, log)
        except OSError as error:
            # A lack of files, disk or processes on this machine, which is no fault of the task.
            message = f"no process can be started: {error}"
            raise UnavailableError(message) from error
        with stream:
            taken = _heard(stream, self._patience)
        if not taken:
            self._judge(task, _end(process, self._patience if taken is False else timedelta()), log, begin)
            return
        # Waits for its end, so that nothing is left of it then.
        name = f"task-detached-{task.sequence}"
        threading.Thread(target=_reap, args=(process, task), name=name, daemon=True).start()

    def _launch(self, task: Task, log: Path) -> "tuple[subprocess.Popen[bytes], io.FileIO]":
        """Start a process, and return it along with what it will answer in."""
        lock, answer, told = self._open(task)
        stream = io.FileIO(answer)
        try:
            return self._spawn(task, log, lock, told), stream
        except BaseException:
            stream.close()
            raise
        finally:
            # From here on they are the process's alone.
            _FILES.close(lock, told)

    def _open(self, task: Task) -> tuple[int, int, int]:
        """Return the lock of a process, and both ends of the pipe that it will answer in."""
        with _FILES.opening() as files:
            lock = self._folder.reserve(self._topic, task, self._limit)
            if lock is None:
                message = f"no room for {task}: {self._limit} detached processes run already"
                raise UnavailableError(message)
            files.add(lock)
            try:
                answer, told = os.pipe()
            except OSError:
                _FILES.close(lock)
                raise
            files.add(told)
        return lock, answer, told

    def _spawn(self, task: Task, log: Path, lock: int, told: int) -> "subprocess.Popen[bytes]":
        errand = Errand(
            topic=self._topic,
            sequence=task.sequence,
            identifier=task.identifier,
            token=task.token,
            paths=[path or str(Path.cwd()) for path in sys.path],
            lock=lock,
            answer=told,
            **self._settings,
        )
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, *_PROGRAM, log.stem],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(lock, told),
                start_new_session=True,
            )
        assert process.stdin is not None  # noqa: S101 - for the type checker
        # One that is dead already is found out by its missing answer.
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(errand.dump())
        return process

    def _judge(self, task: Task, code: int | None, log: Path, begin: int) -> None:
        """Say what it means that a process did not take its task over; nothing if the task is not ours any more."""
        if code in _NOT_OURS:
            LOGGER.warning("topic %r: %s is not ours any more (%s)", self._topic, task, DetachedExit(code).name)
            return
        if code is None:
            message = f"the detached process of {task} did not take it over within {self._patience}; see {log}"
            raise UnavailableError(message)
        end = f"the detached process of {task} ended with {_named(code)} before it took the task over"
        if code == DetachedExit.UNREACHABLE:
            message = f"{end}; see {log}"
            raise UnavailableError(message)
        message = f"{end}; the end of its log, {log}:\n{_tail(log, begin)}"
        raise DetachedError(message)


def _heard(stream: io.RawIOBase, patience: timedelta) -> bool | None:
    """Tell whether a process has said that it took its task over; None if it says nothing for so long."""
    deadline, heard = Deadline(patience), b""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    while not heard.endswith(b"\n"):
        if not poll.poll(min(seconds(deadline.left) or 0, LONGEST) * 1000):
            if deadline.over:
                return None
            continue
        if not (part := stream.read(len(ANSWER))):
            return False
        heard += part
    return heard == ANSWER


def _end(process: "subprocess.Popen[bytes]", patience: timedelta) -> int | None:
    """Return how a process ends; None if it had to be killed."""
    try:
        return process.wait(patience.total_seconds())
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _reap(process: "subprocess.Popen[bytes]", task: Task) -> None:
    code = process.wait()
    level = logging.INFO if code in (DetachedExit.DONE, DetachedExit.STOPPED) else logging.WARNING
    LOGGER.log(level, "the detached process of %s ended with %s", task, _named(code))


def _named(code: int) -> str:
    with suppress(ValueError):
        return f"{code} ({DetachedExit(code).name if code >= 0 else signal.Signals(-code).name})"
    return str(code)


def _tail(log: Path, begin: int) -> str:
    """The last lines that a process wrote."""
    with log.open("rb") as file:
        file.seek(max(begin, log.stat().st_size - _TAIL_BYTES))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-_TAIL_LINES:])


def _checked_url(url: object) -> str:
    # SQLAlchemy's own URL hides its password from str().
    render = getattr(url, "render_as_string", None)
    text = render(hide_password=False) if callable(render) else url
    if not isinstance(text, str) or "://" not in text:
        message = "url must be a database URL, as in sqlite:///shop.db or postgresql://user@host/name"
        raise InvalidTaskError(message)
    if text.startswith("sqlite") and (":memory:" in text or text.rstrip("/").endswith(":")):
        message = "a database in memory can't be seen by another process; name a file, for example sqlite:///shop.db"
        raise InvalidTaskError(message)
    return text
