"""Databases that the double of Oracle executes on, and connections to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy

from tests.backends.provision import DoubleProvision
from tests.oracle import double
from tests.oracle.items import TABLE, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.oracle.double import Connection


@pytest.fixture(scope="session")
def provision(postgresql_url: str) -> Iterator[DoubleProvision]:
    """Databases that the double executes on, with nothing in them."""
    provision = DoubleProvision(postgresql_url, install=False)
    yield provision
    provision.close()


@pytest.fixture
def dsn(provision: DoubleProvision) -> Iterator[str]:
    """A database of the test's own with one table in it."""
    with provision.create(partitioned=False) as url:
        dsn = str(sqlalchemy.make_url(url).query["dsn"])
        with double.connect(dsn) as connection:
            run(connection, "CREATE SEQUENCE item_sequence ORDER CACHE 100")
            run(connection, TABLE)
        yield dsn


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[[], Connection]]:
    """Open another connection."""
    opened: list[Connection] = []

    def connect() -> Connection:
        opened.append(double.connect(dsn))
        return opened[-1]

    yield connect
    for connection in opened:
        if connection.is_healthy():
            connection.close()


@pytest.fixture
def connection(connect: Callable[[], Connection]) -> Connection:
    """A connection."""
    return connect()
