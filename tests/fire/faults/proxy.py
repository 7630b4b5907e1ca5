"""A network of the loopback interface that can be cut, slow, or silent."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Self, TypeVar

import sqlalchemy

from tests.fire.faults.link import Link

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_PATIENCE = 30
R = TypeVar("R")


class Proxy:
    """Listens on a port of its own and passes everything on to the port of a server, on a thread of its own."""

    def __init__(self, target: int) -> None:
        self.target = target
        """The port that new connections go to; change it at any time."""
        self._links: set[Link] = set()
        self._delay = 0.0
        self._silent = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fire-proxy", daemon=True)
        self._thread.start()
        opening = self._loop.create_server(self._accept, "127.0.0.1", 0, backlog=1000)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result(_PATIENCE)
        self.port: int = self._server.sockets[0].getsockname()[1]
        """Where to connect instead."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def connections(self) -> int:
        """How many connections there are, dead ones included."""
        return len(self._links)

    def through(self, url: str) -> str:
        """The same database through the proxy, for SQLAlchemy or for psycopg, as it was."""
        changed = sqlalchemy.make_url(url).set(host="127.0.0.1", port=self.port)
        return changed.render_as_string(hide_password=False)

    def cut(self, chance: Random | None = None) -> int:
        """End all present connections, or some of them, and tell how many."""
        return self._run(lambda: self._cut(chance))

    def delay(self, seconds: float) -> None:
        """Hold back whatever is sent, in both directions, for so long."""
        self._run(lambda: self._set_delay(seconds))

    def half_open(self, *, new: bool = False) -> int:
        """
        Lose whatever is sent on all present connections without a word, and tell how many they are.

        Args:
            new: Answer no new connections either.

        """
        return self._run(lambda: self._half_open(new=new))

    def heal(self) -> None:
        """Be a good network again. It does not know connections that were dead: they are reset."""
        self._run(self._heal)

    def stop(self) -> None:
        """End all connections and listen no more."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()

    def _accept(self) -> asyncio.Protocol:
        link = Link(self._loop, self._links.discard)
        link.delay = self._delay
        link.dead = self._silent
        self._links.add(link)
        if not link.dead:
            link.open(self.target)
        return link.client

    def _cut(self, chance: Random | None) -> int:
        links = sorted(self._links, key=lambda link: link.number)
        if chance is not None and links:
            links = chance.sample(links, chance.randint(1, len(links)))
        for link in links:
            link.reset()
        return len(links)

    def _set_delay(self, seconds: float) -> None:
        self._delay = seconds
        for link in self._links:
            link.delay = seconds

    def _half_open(self, *, new: bool) -> int:
        self._silent = new
        for link in self._links:
            link.dead = True
        return len(self._links)

    def _heal(self) -> None:
        self._silent = False
        self._set_delay(0)
        for link in [link for link in self._links if link.dead]:
            link.reset()

    async def _close(self) -> None:
        self._server.close()
        for link in list(self._links):
            link.reset()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # the ends hear of it

    def _run(self, action: Callable[[], R]) -> R:
        """Do something on the thread of the network."""
        done: Future[R] = Future()

        def do() -> None:
            try:
                done.set_result(action())
            except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                done.set_exception(error)

        self._loop.call_soon_threadsafe(do)
        return done.result(_PATIENCE)
