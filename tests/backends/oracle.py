"""What a test sees of Oracle: a server's, or the double's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import oracledb
import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from tests.backends.backend import Backend, Transaction

_MANY_ON_DOUBLE = 2_500


class OracleBackend(Backend):
    """One test's own database, or the one schema of a server, emptied."""

    _errors = (oracledb.Error, SQLAlchemyError)

    @property
    def is_double(self) -> bool:
        """Whether PostgreSQL executes what Oracle would."""
        return sqlalchemy.make_url(self.url).drivername == "oracle+double"

    def many(self, number: int) -> int:
        """So many tasks; on the double, which goes row by row, as many as cross each limit of a thousand twice."""
        return min(number, _MANY_ON_DOUBLE) if self.is_double else number

    @property
    def dsn(self) -> str:
        """What the driver's own ``connect`` takes: of the double the URL of PostgreSQL, of a server its address."""
        return str(self._connect_arguments()["dsn"])

    @property
    def on_postgresql(self) -> bool:
        """So it is with the double."""
        return self.is_double

    def connect(self) -> Transaction:
        """A new connection of the driver itself, not in autocommit mode; the caller closes it."""
        driver: Any = self.engine.dialect.loaded_dbapi
        return driver.connect(**self._connect_arguments())

    def sql(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        """Run plain SQL with ``:name`` parameters in a transaction of its own and give its rows; times are UTC."""
        times = [
            sqlalchemy.bindparam(name, value.astimezone(UTC).replace(tzinfo=None), sqlalchemy.TIMESTAMP)
            for name, value in params.items()
            if isinstance(value, datetime)
        ]
        others = {name: value for name, value in params.items() if not isinstance(value, datetime)}
        with self.engine.begin() as connection:
            result = connection.execute(sqlalchemy.text(statement).bindparams(*times), others)
            return [tuple(map(_aware, row)) for row in result] if result.returns_rows else []

    def age_owner(self, owner: str, seconds: float) -> None:
        """Move an owner's heartbeat into the past, so that no test waits for time to pass."""
        assert self.sql("SELECT 1 FROM task_owner WHERE owner = :owner", owner=owner), f"{owner!r} is not registered"
        self.sql(
            "UPDATE task_owner SET heartbeat = heartbeat - NUMTODSINTERVAL(:seconds, 'SECOND') WHERE owner = :owner",
            owner=owner,
            seconds=float(seconds),
        )

    def _connect_arguments(self) -> dict[str, Any]:
        _, arguments = self.engine.dialect.create_connect_args(sqlalchemy.make_url(self.url))
        return dict(arguments)

    def _usable(self, connection: Transaction) -> bool:
        try:
            connection.ping()
        except oracledb.Error:
            return False
        return True

    def _closed(self, connection: Transaction) -> bool:
        return not connection.is_healthy()


def _aware(value: object) -> object:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
