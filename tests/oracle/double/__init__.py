"""
A double of python-oracledb that executes on PostgreSQL.

It takes Oracle's SQL and gives Oracle's errors, so that the real repository for Oracle, and SQLAlchemy's own dialect,
run on it unchanged: ``sqlalchemy.create_engine("oracle+double://?dsn=postgresql://...")`` after `register`, or
`connect` with the URL of PostgreSQL. What it imitates, it can't prove; PL/SQL it refuses.

Everything that is not defined here is python-oracledb's own: constants, exceptions, types.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import oracledb
from sqlalchemy.dialects import registry

from tests.oracle.double.connection import Connection, found
from tests.oracle.double.cursor import Cursor
from tests.oracle.double.values import Lob, Var

__all__ = ["LOB", "Connection", "Cursor", "Var", "connect", "found", "register", "url"]

LOB = Lob
apilevel = oracledb.apilevel
paramstyle = oracledb.paramstyle
threadsafety = oracledb.threadsafety
version = oracledb.version
__version__ = oracledb.__version__


def connect(dsn: str, **_: Any) -> Connection:
    """Connect to a database that `found` has prepared, by the URL of PostgreSQL."""
    return Connection(dsn)


def url(dsn: str) -> str:
    """Return SQLAlchemy's URL for a database of PostgreSQL behind the double."""
    return f"oracle+double://?dsn={quote(dsn, safe='')}"


def register() -> None:
    """Make ``oracle+double`` known to SQLAlchemy, in this process."""
    registry.register("oracle.double", "tests.oracle.double.dialect", "DoubleDialect")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the driver has
    return getattr(oracledb, name)
