"""Sessions that are ended, a server that is restarted, a primary that dies."""

from __future__ import annotations

import re
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.fire.faults import FAULTS
from tests.fleet.crew import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from tests.fire.faults.stage import Stage


class Writer:
    """Commits one number after the other through the proxy, and remembers which the server has acknowledged."""

    def __init__(self, url: str) -> None:
        self.written: list[int] = []
        self.failures = 0
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write beside what is done inside."""
        self._thread.start()
        try:
            self.wait()
            yield
            self.wait()
        finally:
            self._stopping.set()
            self._thread.join(PATIENCE)

    def wait(self, number: int = 20) -> None:
        """Wait until it has written some more."""
        goal = len(self.written) + number
        eventually(lambda: len(self.written) >= goal, lambda: (len(self.written), self.failures))

    def _main(self) -> None:
        number = 0
        while not self._stopping.wait(0.001):
            try:
                with psycopg.connect(self._url, autocommit=True) as connection:
                    while not self._stopping.is_set():
                        number += 1
                        connection.execute("INSERT INTO written VALUES (%s)", [number])
                        self.written.append(number)
            except psycopg.OperationalError:
                self.failures += 1


@pytest.fixture
def writers(served: Stage) -> Iterator[list[Writer]]:
    """Three writers, all of whose acknowledged numbers are in the table in the end."""
    sql(served, "CREATE TABLE written (number integer)")
    writers = [Writer(served.url) for _ in range(3)]
    with writers[0].writing(), writers[1].writing(), writers[2].writing():
        yield writers
        for writer in writers:
            writer.wait()
    found = Counter(number for (number,) in sql(served, "SELECT number FROM written"))
    assert Counter(number for writer in writers for number in writer.written) <= found
    sql(served, "DROP TABLE written")


def sql(stage: Stage, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement past the proxy."""
    assert stage.cluster is not None
    with psycopg.connect(stage.cluster.url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_sessions_are_terminated(served: Stage, writers: list[Writer], chance: Random) -> None:
    """As many as it says have lost their connection, at least one in each round."""
    said = FAULTS["terminate"].strike(served, chance)
    [number, rounds] = map(int, re.findall(r"\d+", said))
    assert number >= rounds > 0
    eventually(lambda: sum(writer.failures for writer in writers) == number, lambda: said)


def test_the_conductor_is_not_terminated(served: Stage, chance: Random) -> None:
    """A session with its name is spared."""
    assert served.cluster is not None
    with psycopg.connect(served.cluster.url, application_name="fire") as connection:
        assert served.cluster.terminate_backends(chance) == 0
        connection.execute("SELECT 1")


def test_the_server_is_restarted(served: Stage, writers: list[Writer], chance: Random) -> None:
    """All sessions end, and what was committed is there."""
    before = sql(served, "SELECT pg_postmaster_start_time()")
    assert FAULTS["restart"].strike(served, chance) == "restarted the server (immediate)"
    assert sql(served, "SELECT pg_postmaster_start_time()") != before
    eventually(lambda: all(writer.failures for writer in writers), lambda: "nobody noticed")


def test_the_standby_takes_the_place_of_the_primary(served: Stage, writers: list[Writer], chance: Random) -> None:
    """Twice: what the dead primary acknowledged is in the new one, which has a synchronous standby again."""
    assert served.cluster is not None
    for _ in range(2):
        before = served.cluster.port
        failures = [writer.failures for writer in writers]
        said = FAULTS["promote"].strike(served, chance)
        assert said == f"killed the primary on port {before}, promoted the standby on port {served.cluster.port}"
        for writer, failed in zip(writers, failures, strict=True):
            eventually(lambda writer=writer, failed=failed: writer.failures > failed, lambda: "nobody noticed")  # type: ignore[misc]
            writer.wait()
        assert sql(served, "SELECT application_name, sync_state FROM pg_stat_replication") == [("standby", "sync")]
