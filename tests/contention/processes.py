"""Members that are processes: for SQLite, whose promise is several processes on one file, and for crashes."""

from __future__ import annotations

import multiprocessing
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import task_sql
from tests.contention.member import CROWD, TIMEOUT, Member, Part
from tests.oracle import double

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class _Answer:
    value: Any = None
    error: str | None = None


class Process:
    """Another Python process that plays one part after the other, on any database."""

    def __init__(self, barrier: Barrier | None = None) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, barrier), daemon=True)
        self._process.start()
        theirs.close()

    def start(self, url: str, part: Part) -> None:
        """Begin to play a part."""
        self._pipe.send((url, part))

    def tell(self, message: object) -> None:
        """Send what the part's ``hear`` waits for."""
        self._pipe.send(message)

    def expect(self) -> Any:  # noqa: ANN401 - whatever the role says
        """Wait for what the part says next."""
        received = self._receive()
        assert not isinstance(received, _Answer), f"ended instead of saying something: {received}"
        return received

    def result(self) -> Any:  # noqa: ANN401 - whatever the role returns
        """Wait for the end of the part and give what it returned."""
        answer = self._receive()
        assert isinstance(answer, _Answer), f"said {answer!r} instead of ending"
        assert answer.error is None, answer.error
        return answer.value

    def kill(self) -> None:
        """End the process with SIGKILL, in the middle of whatever it does."""
        self._process.kill()
        self._process.join(TIMEOUT)
        assert self._process.exitcode is not None, "a killed process is still there"
        self._pipe.close()

    def _receive(self) -> Any:  # noqa: ANN401 - whatever comes
        assert self._pipe.poll(TIMEOUT), "the process says nothing"
        return self._pipe.recv()


class Crew:
    """Processes that stay for the whole session, because starting one takes longer than most races."""

    def __init__(self) -> None:
        self._processes: list[Process] = []

    def race(self, url: str, *parts: Part) -> list[Any]:
        """Play all parts at once and give what each returned; an error of any of them is raised."""
        assert len(parts) == CROWD, f"a crew has {CROWD} members"
        if not self._processes:
            barrier = _CONTEXT.Barrier(CROWD)
            self._processes = [Process(barrier) for _ in range(CROWD)]
        try:
            for process, part in zip(self._processes, parts, strict=True):
                process.start(url, part)
            return [process.result() for process in self._processes]
        except BaseException:
            self.dismiss()  # the barrier is broken, and the others may be anywhere
            raise

    def dismiss(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.kill()
        self._processes = []


class Processes:
    """Races between the processes of a crew on one database."""

    def __init__(self, crew: Crew, url: str) -> None:
        self._crew = crew
        self._url = url

    def race(self, *parts: Part) -> list[Any]:
        """Play all parts at once and give what each returned; an error of any of them is raised."""
        return self._crew.race(self._url, *parts)


def _serve(pipe: Connection, barrier: Barrier | None) -> None:
    """What the other process runs, until the test's end of the pipe is closed."""
    while True:
        try:
            url, part = pipe.recv()
        except EOFError:
            return
        pipe.send(_play(pipe, barrier, url, part))


def _play(pipe: Connection, barrier: Barrier | None, url: str, part: Part) -> _Answer:
    def hear() -> object:
        assert pipe.poll(TIMEOUT), "the test says nothing"
        return pipe.recv()

    double.register()
    engine = task_sql.create_engine(url)
    try:
        repository = task_sql.create_repository(engine, owner=part.owner)
        with engine.begin() as transaction:
            repository.register(transaction)
        member = Member(
            repository,
            engine.begin,
            meet=(lambda: barrier.wait(TIMEOUT)) if barrier else (lambda: None),
            say=pipe.send,
            hear=hear,
        )
        return _Answer(part.role(member, **part.options))
    except Exception:  # noqa: BLE001 - the test raises it
        if barrier:
            barrier.abort()
        return _Answer(error=traceback.format_exc())
    finally:
        engine.dispose()
