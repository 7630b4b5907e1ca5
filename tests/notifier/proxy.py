"""A network between a client and PostgreSQL that can be made to lose everything without a word."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import sqlalchemy

if TYPE_CHECKING:
    from collections.abc import Callable


class Link:
    """One connection through the proxy."""

    def __init__(self, client: socket.socket, connect: Callable[[], socket.socket], *, frozen: bool) -> None:
        self.frozen = frozen
        """From now on whatever is sent is lost, and nobody is told."""
        self._ends = [client]
        self._threads = []
        if not frozen:
            server = connect()
            self._ends.append(server)
            pairs = ((client, server), (server, client))
            self._threads = [threading.Thread(target=self._pump, args=pair, daemon=True) for pair in pairs]
            for thread in self._threads:
                thread.start()

    def close(self) -> None:
        """End both connections."""
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for end in self._ends:
            end.close()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.frozen:
                    target.sendall(data)
            if not self.frozen:
                target.shutdown(socket.SHUT_WR)


class Proxy:
    """Listens on TCP and connects to the server of a SQLAlchemy URL, be that by TCP or by a Unix socket."""

    def __init__(self, url: str) -> None:
        self._server = sqlalchemy.make_url(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._links: list[Link] = []
        self._frozen = False
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        for link in self._links:
            link.close()

    @property
    def url(self) -> str:
        """The URL of the same database through the proxy."""
        host, port = self._listener.getsockname()
        through = self._server.set(host=host, port=port).difference_update_query(["host", "port"])
        return through.render_as_string(hide_password=False)

    def freeze(self, *, new: bool = False) -> None:
        """Lose what is sent on all present connections, or also answer no new ones."""
        with self._lock:
            self._frozen = new
            for link in self._links:
                link.frozen = True

    def thaw(self) -> None:
        """Serve new connections again; the present ones stay as they are."""
        with self._lock:
            self._frozen = False

    def cut(self) -> None:
        """End all present connections."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with self._lock:
                    self._links.append(Link(client, self._connect, frozen=self._frozen))

    def _connect(self) -> socket.socket:
        query = self._server.query
        host = str(query.get("host") or self._server.host or "localhost")
        port = int(str(query.get("port") or self._server.port or 5432))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server
