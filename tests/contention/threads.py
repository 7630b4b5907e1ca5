"""Members and actors that are threads, for PostgreSQL: each with a psycopg connection of its own."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import psycopg

from tests.contention.member import TIMEOUT, Member, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from task_api import TaskRepository
    from tests.backends import Backend

T = TypeVar("T")
_BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"


class Threads:
    """Races between threads; members of one owner share a repository, as the threads of a worker do."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def race(self, *parts: Part) -> list[Any]:
        """Play all parts at once and give what each returned; an error of any of them is raised."""
        barrier = Barrier(len(parts))
        repositories = {owner: self._backend.repository(owner) for owner in {part.owner for part in parts}}
        with ExitStack() as stack:
            members = [
                Member(
                    repositories[part.owner],
                    partial(_transaction, stack.enter_context(closing(self._backend.connect()))),
                    partial(barrier.wait, TIMEOUT),
                    say=_only_processes,
                    hear=_only_processes,
                )
                for part in parts
            ]
            with ThreadPoolExecutor(len(parts)) as pool:
                futures = [
                    pool.submit(_play, barrier, part, member) for part, member in zip(parts, members, strict=True)
                ]
                wait(futures, TIMEOUT)
            return _results(futures)


class Actor:
    """One connection in the hands of one thread: calls run in order, and the test sees whether one waits."""

    def __init__(self, backend: Backend, owner: str) -> None:
        self.repository = backend.repository(owner)
        self.transaction: Any = backend.connect()
        self._backend = backend
        self._thread = ThreadPoolExecutor(1)

    def start(self, call: Callable[[TaskRepository[Any], Any], T]) -> Future[T]:
        """Begin a call of (repository, transaction) without waiting for it."""
        return self._thread.submit(call, self.repository, self.transaction)

    def run(self, call: Callable[[TaskRepository[Any], Any], T]) -> T:
        """Do a call and give its result."""
        return self.start(call).result(TIMEOUT)

    def commit(self) -> None:
        """Commit the open transaction."""
        self._thread.submit(self.transaction.commit).result(TIMEOUT)

    def rollback(self) -> None:
        """Roll the open transaction back."""
        self._thread.submit(self.transaction.rollback).result(TIMEOUT)

    def waits(self, future: Future[Any]) -> bool:
        """Return once the call has ended or waits for another transaction; tell whether it waits."""
        deadline = time.monotonic() + TIMEOUT
        pid = self.transaction.session if self._backend.name == "oracle" else self.transaction.info.backend_pid
        with psycopg.connect(self._backend.dsn, autocommit=True) as observer:
            while not future.done():
                if observer.execute(_BLOCKED, [pid]).fetchall() == [(True,)]:
                    return True
                assert time.monotonic() < deadline, "the call neither ended nor waited"
                wait([future], 0.005)
        return False

    def close(self) -> None:
        """Roll back, close the connection and end the thread; a call that still runs is cancelled."""
        if self._backend.name == "oracle":
            self.transaction.cancel()
        else:
            self.transaction.cancel_safe(timeout=TIMEOUT)
        self._thread.submit(self.transaction.close).result(TIMEOUT)
        self._thread.shutdown()


@contextmanager
def _transaction(connection: Any) -> Iterator[Any]:  # noqa: ANN401 - a driver's connection
    try:
        yield connection
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _play(barrier: Barrier, part: Part, member: Member) -> object:
    try:
        return part.role(member, **part.options)
    except BaseException:
        barrier.abort()  # so that the others do not wait for this one
        raise


def _results(futures: list[Future[Any]]) -> list[Any]:
    errors = [error for future in futures if (error := future.exception(TIMEOUT)) is not None]
    for error in errors:
        if not isinstance(error, BrokenBarrierError):
            raise error
    return [future.result(TIMEOUT) for future in futures]


def _only_processes(*_: object) -> NoReturn:
    message = "a thread shares the test's memory; only processes talk"
    raise NotImplementedError(message)
