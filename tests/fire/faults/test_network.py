"""Connections that are cut, delayed, and half open."""

from __future__ import annotations

import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.fire.faults import FAULTS
from tests.fleet.crew import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from tests.fire.faults.proxy import Proxy
    from tests.fire.faults.stage import Stage


class Asker:
    """Asks the server again and again, and remembers how long each answer took, None for an error."""

    def __init__(self, url: str) -> None:
        self.answers: list[float | None] = []
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main)
        self._thread.start()

    def wait(self, number: int = 10) -> None:
        """Wait for some more answers."""
        goal = self._good + number
        eventually(lambda: self._good >= goal, lambda: self.answers[-20:])

    def stop(self) -> None:
        """Ask no more."""
        self._stopping.set()
        self._thread.join(PATIENCE)

    @property
    def _good(self) -> int:
        return sum(answer is not None for answer in self.answers)

    @property
    def failures(self) -> int:
        """How many errors there were."""
        return self.answers.count(None)

    @property
    def longest(self) -> float:
        """The longest time that an answer took."""
        return max(answer for answer in self.answers if answer is not None)

    def _main(self) -> None:
        while not self._stopping.wait(0.001):
            try:
                with psycopg.connect(self._url, autocommit=True) as connection:
                    while not self._stopping.wait(0.001):
                        start = time.monotonic()
                        connection.execute("SELECT 1")
                        self.answers.append(time.monotonic() - start)
            except psycopg.OperationalError:
                self.answers.append(None)


@pytest.fixture
def asker(served: Stage) -> Iterator[Asker]:
    """Somebody who needs the network; it serves in the end."""
    asker = Asker(served.url)
    asker.wait()
    yield asker
    asker.wait()
    asker.stop()


@pytest.fixture
def proxy(served: Stage) -> Proxy:
    """The network alone."""
    assert served.proxy is not None
    return served.proxy


def test_a_good_network_changes_nothing(served: Stage, proxy: Proxy) -> None:
    """Large texts pass in both directions on several connections at once; ended connections leave nothing."""

    def echo(number: int) -> str:
        text = f"{number:08d}" * 1_000_000
        with psycopg.connect(served.url) as connection:
            row = connection.execute("SELECT %s::text, md5(%s::text)", [text, text]).fetchone()
        assert row is not None
        assert row[0] == text
        assert row[1] == hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        return text

    with ThreadPoolExecutor() as pool:
        list(pool.map(echo, range(3)))
    eventually(lambda: proxy.connections == 0, lambda: proxy.connections)


def test_a_server_that_is_away_is_told_to_the_client(served: Stage, proxy: Proxy) -> None:
    """A connection that leads nowhere ends, and the next one is served."""
    port, proxy.target = proxy.target, 1
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(served.url)
    proxy.target = port
    psycopg.connect(served.url).close()


def test_connections_are_cut(served: Stage, asker: Asker, chance: Random) -> None:
    """Errors, and then answers."""
    with closing(psycopg.connect(served.url, autocommit=True)) as idle:
        said = FAULTS["cut"].strike(served, chance)
        eventually(lambda: asker.failures > 0, lambda: said)
        with pytest.raises(psycopg.OperationalError):
            idle.execute("SELECT 1")


def test_everything_is_delayed(served: Stage, asker: Asker, chance: Random) -> None:
    """Answers take longer, both ways, none is lost, and then they are fast again."""
    said = FAULTS["delay"].strike(served, chance)
    asker.wait(2)
    delay = int(said.split()[3]) / 1000
    assert asker.longest >= 2 * delay - 0.001, said
    assert asker.failures == 0
    del asker.answers[:]
    asker.wait()
    assert min(answer for answer in asker.answers if answer is not None) < delay


@pytest.mark.parametrize("new", [False, True])
def test_nothing_is_heard_on_dead_connections(served: Stage, proxy: Proxy, *, new: bool) -> None:
    """Whoever asks waits, the server's session stays; new ones are answered or not; in the end they are reset."""
    with (
        ThreadPoolExecutor() as pool,
        closing(psycopg.connect(served.url, autocommit=True)) as first,
    ):
        pid = first.info.backend_pid
        assert proxy.half_open(new=new) == 1
        answer = pool.submit(first.execute, "SELECT 1")
        if new:
            with pytest.raises(psycopg.OperationalError, match="timeout"):
                psycopg.connect(served.url, connect_timeout=2)
        else:
            psycopg.connect(served.url).close()
        assert not answer.done()
        with psycopg.connect(served.admin_url) as admin:
            alive = admin.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid])
            assert alive.fetchall() == [(1,)]
        proxy.heal()
        with pytest.raises(psycopg.OperationalError):
            answer.result(PATIENCE)
        psycopg.connect(served.url).close()


def test_connections_are_half_open_for_a_while(served: Stage, asker: Asker, chance: Random) -> None:
    """No answer for so long, an error, and then answers."""
    start = time.monotonic()
    said = FAULTS["half-open"].strike(served, chance)
    assert time.monotonic() - start >= served.silence
    assert said.startswith("lost all bytes of 1 connections")
    eventually(lambda: asker.failures > 0, lambda: said)
