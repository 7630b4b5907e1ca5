"""A server that speaks enough of PostgreSQL to ask for a password, and to find it wrong."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from typing import Self

_ENCRYPTED = frozenset({80877103, 80877104})
"""What a client asks first: whether TLS or GSSAPI is spoken."""
_ASK = b"R" + struct.pack("!ii", 8, 3)


class Gatekeeper:
    """Listens on this machine, lets nobody in, and remembers the passwords that it was shown."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        """Where it listens."""
        self.seen: list[str] = []
        """The passwords."""
        threading.Thread(target=self._serve, name="gatekeeper", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                connection, _ = self._socket.accept()
                with connection, suppress(OSError, struct.error):
                    self._refuse(connection)

    def _refuse(self, connection: socket.socket) -> None:
        while (code := self._message(connection)[0]) in _ENCRYPTED:
            connection.sendall(b"N")
        assert code >> 16 == 3
        connection.sendall(_ASK)
        connection.recv(1)
        (length,) = struct.unpack("!i", connection.recv(4))
        self.seen.append(connection.recv(length - 4).rstrip(b"\0").decode())
        fields = b'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "u"\0\0'
        connection.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)

    @staticmethod
    def _message(connection: socket.socket) -> tuple[int, bytes]:
        (length,) = struct.unpack("!i", connection.recv(4))
        body = connection.recv(length - 4)
        return struct.unpack("!i", body[:4])[0], body[4:]
