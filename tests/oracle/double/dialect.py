"""SQLAlchemy's dialect for python-oracledb, unchanged but for the driver."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from sqlalchemy.dialects.oracle.oracledb import OracleDialect_oracledb

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIModule


class DoubleDialect(OracleDialect_oracledb):
    """Oracle through the double of its driver."""

    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> DBAPIModule:
        """Return the double."""
        return cast("DBAPIModule", importlib.import_module("tests.oracle.double"))
