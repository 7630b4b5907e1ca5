"""
Where the Oracle of a test session comes from.

A URL in ``TOPIQ_TEST_ORACLE_URL``, whose user's schema the tests take for their own; else a container, if
``TOPIQ_TEST_ORACLE=server`` or ``TOPIQ_REQUIRE_ORACLE=1`` asks for a server; else the double, which executes on
PostgreSQL. A server that is asked for and not found fails the session.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, Protocol

from tests.backends.server import docker_answers

URL_VARIABLE = "TOPIQ_TEST_ORACLE_URL"
KIND_VARIABLE = "TOPIQ_TEST_ORACLE"
REQUIRE_VARIABLE = "TOPIQ_REQUIRE_ORACLE"
IMAGE = "gvenzl/oracle-free:23-slim-faststart"


class OracleServer(Protocol):
    """A running Oracle server."""

    url: str
    """SQLAlchemy's URL of a user whose schema is the tests' own."""

    def stop(self) -> None:
        """Stop the server if this session started it."""


class GivenServer:
    """A server that somebody else runs."""

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        if scheme not in {"oracle", "oracle+oracledb"}:
            message = f"{URL_VARIABLE} is to be like oracle+oracledb://user:password@host:1521/?service_name=FREEPDB1"
            raise RuntimeError(message)
        self.url = f"oracle+oracledb://{rest}"

    def stop(self) -> None:
        """Leave it running: it is not ours."""


class ContainerServer:
    """A server in a container."""

    def __init__(self) -> None:
        testcontainers: Any = importlib.import_module("testcontainers.community.oracle")
        self._container = testcontainers.OracleDbContainer(IMAGE, username="topiq", password="topiq")  # noqa: S106
        self._container.start()
        self.url: str = self._container.get_connection_url()

    def stop(self) -> None:
        """Stop and remove the container."""
        self._container.stop()


def is_required() -> bool:
    """Whether a session without a server is to fail."""
    return os.environ.get(REQUIRE_VARIABLE) == "1" or os.environ.get(KIND_VARIABLE) == "server"


def start() -> OracleServer | None:
    """The server that this session is to use, or None for the double."""
    if url := os.environ.get(URL_VARIABLE):
        return GivenServer(url)
    if not is_required():
        return None
    if importlib.util.find_spec("testcontainers") and docker_answers():
        return ContainerServer()
    message = (
        f"no Oracle server for the tests, which {REQUIRE_VARIABLE}=1 or {KIND_VARIABLE}=server asks for:"
        f" set {URL_VARIABLE} to a server's URL, or install testcontainers (with a running Docker engine)"
    )
    raise RuntimeError(message)
