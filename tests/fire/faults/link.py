"""One connection through the proxy: an end to the client, an end to the server, and what is on its way."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_numbers = count()
# Closed like this, the other side gets a reset.
_NO_LINGER = struct.pack("ii", 1, 0)


class Link:
    """Passes bytes on between two ends; all on the thread of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_end: Callable[[Link], None]) -> None:
        self.number = next(_numbers)
        """Its place in the order of connections."""
        self.delay = 0.0
        """Seconds that bytes are on their way."""
        self.dead = False
        """Whether bytes are lost instead."""
        self.client = End(loop, self)
        """The end that the client is connected to."""
        self._server = End(loop, self)
        self.client.peer, self._server.peer = self._server, self.client
        self._loop = loop
        self._on_end = on_end
        self._opening: asyncio.Task[None] | None = None

    def open(self, port: int) -> None:
        """Connect to the server."""
        self._opening = self._loop.create_task(self._open(port))

    def ended(self, end: End) -> None:
        """One end was closed from outside; the other one is told, unless the link is dead."""
        if not self.dead and end.peer is not None:
            end.peer.finish()
            self._on_end(self)

    def reset(self) -> None:
        """End it for both."""
        if self._opening is not None:
            self._opening.cancel()
        self.client.abort()
        self._server.abort()
        self._on_end(self)

    async def _open(self, port: int) -> None:
        try:
            await self._loop.create_connection(lambda: self._server, "127.0.0.1", port)
        except OSError:
            self.reset()


class End(asyncio.Protocol):
    """One of the two connections of a link."""

    def __init__(self, loop: asyncio.AbstractEventLoop, link: Link) -> None:
        self.peer: End | None = None
        """The other one."""
        self._loop = loop
        self._link = link
        self._transport: asyncio.Transport | None = None
        self._coming: deque[tuple[float, bytes]] = deque()
        self._finished = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass on what came before."""
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport = transport
        self._deliver()

    def data_received(self, data: bytes) -> None:
        """Send it on its way to the other end."""
        if not self._link.dead and self.peer is not None:
            self.peer.send(data, self._link.delay)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - as declared
        """End the other one too."""
        self._link.ended(self)

    def pause_writing(self) -> None:
        """Take no more than can be passed on."""
        if self.peer is not None and self.peer._transport is not None:  # noqa: SLF001 - of its own kind
            self.peer._transport.pause_reading()  # noqa: SLF001 - of its own kind

    def resume_writing(self) -> None:
        """Take more."""
        if self.peer is not None and self.peer._transport is not None:  # noqa: SLF001 - of its own kind
            self.peer._transport.resume_reading()  # noqa: SLF001 - of its own kind

    def send(self, data: bytes, delay: float) -> None:
        """Write to this end, after what is on its way already."""
        if self._transport is not None and not delay and not self._coming:
            self._transport.write(data)
            return
        self._coming.append((self._loop.time() + delay, data))
        if self._transport is not None and len(self._coming) == 1:
            self._loop.call_later(delay, self._deliver)

    def finish(self) -> None:
        """Close it, as soon as everything was delivered."""
        self._finished = True
        if not self._coming and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close it at once."""
        self._coming.clear()
        if self._transport is None:
            return
        if not self._transport.is_closing():
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._transport.abort()

    def _deliver(self) -> None:
        if self._transport is None:
            return
        while self._coming and self._coming[0][0] <= self._loop.time():
            self._transport.write(self._coming.popleft()[1])
        if self._coming:
            self._loop.call_at(self._coming[0][0], self._deliver)
        elif self._finished:
            self._transport.close()
