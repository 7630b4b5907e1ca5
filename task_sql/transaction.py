"""
The caller's transaction, whatever it is, as the three verbs that the repositories need.

People have what they have: a SQLAlchemy ``Connection`` or ``Session``, or a driver's own connection. Statements
are SQL in the driver's own parameter style, so that one small adapter for each kind is enough, and none of them
imports a package that the caller does not use already.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from task_api import InvalidTaskError

if TYPE_CHECKING:
    import sqlite3

    import oracledb
    import psycopg
    from sqlalchemy import Connection
    from sqlalchemy.orm import Session, scoped_session

__all__ = [
    "OracleTransaction",
    "Parameters",
    "PostgresTransaction",
    "Row",
    "SqliteTransaction",
    "Transaction",
    "Translate",
    "adapt",
]

Row: TypeAlias = tuple[Any, ...]
Parameters: TypeAlias = Mapping[str, object]
Translate: TypeAlias = Callable[[Exception], Exception | None]
PostgresTransaction: TypeAlias = "Connection | Session | scoped_session[Any] | psycopg.Connection[Any]"
OracleTransaction: TypeAlias = "Connection | Session | scoped_session[Any] | oracledb.Connection"
SqliteTransaction: TypeAlias = "Connection | Session | scoped_session[Any] | sqlite3.Connection"

_NOTHING: Final[Parameters] = {}


class Transaction(Protocol):
    """One transaction of the caller; never committed or rolled back here unless it is the library's own."""

    home: object
    """What the schema was found in: an engine, or the driver's connection. A key to remember that by, weakly."""

    def rows(self, statement: str, parameters: Parameters = _NOTHING) -> list[Row]:
        """Execute a statement and return all its rows."""
        ...

    def run(self, statement: str, parameters: Parameters = _NOTHING) -> int:
        """Execute a statement and return how many rows it touched."""
        ...

    def run_many(self, statement: str, parameters: Sequence[Parameters | Row]) -> None:
        """Execute a statement once for each set of parameters, of which there may be none."""
        ...

    @property
    def driver(self) -> Any:
        """The driver's own connection, to ask about its transaction."""
        ...

    def failed(self, error: Exception) -> None:
        """Raise a driver's error as the caller knows it, if that is another one; for statements past this object."""
        ...


class AlchemyTransaction:
    """A SQLAlchemy connection. The statements show up in its log and events like any other."""

    __slots__ = ("_connection", "_translate", "home")

    def __init__(self, connection: "Connection", translate: Translate) -> None:
        if connection.closed:
            raise _closed()
        if not connection.in_transaction():
            connection.begin()  # what its first statement would do; asking the driver about it comes before that
        self._connection = connection
        self._translate = translate
        self.home: object = connection.engine

    @property
    def driver(self) -> Any:
        return self._connection.connection.driver_connection

    def rows(self, statement: str, parameters: Parameters = _NOTHING) -> list[Row]:
        result = self._execute(statement, parameters)
        try:
            rows: list[Row] = result.cursor.fetchall()  # the driver's own: SQLAlchemy's are slow to make and to compare
        except Exception as error:
            self.failed(error)
            raise
        result.close()
        return list(map(tuple, rows)) if rows and type(rows[0]) is not tuple else rows

    def run(self, statement: str, parameters: Parameters = _NOTHING) -> int:
        return int(self._execute(statement, parameters).rowcount)

    def insert(self, statement: str, parameters: Parameters | Row) -> int | None:
        """Insert one row or none, and return the number that SQLite gave it."""
        result = self._execute(statement, parameters)
        return int(result.lastrowid) if result.rowcount else None

    def run_many(self, statement: str, parameters: Sequence[Parameters | Row]) -> None:
        if parameters:
            self._execute(statement, list(parameters))

    def failed(self, error: Exception) -> None:
        from sqlalchemy.exc import DBAPIError

        connection = self._connection
        dialect = connection.dialect
        base = dialect.loaded_dbapi.Error
        if not isinstance(error, base):
            return
        lost = dialect.is_disconnect(error, connection.connection.dbapi_connection, None)
        if lost:
            connection.invalidate(error)
        raise DBAPIError.instance(None, None, error, base, connection_invalidated=lost, dialect=dialect) from error

    def _execute(self, statement: str, parameters: Any) -> Any:
        try:
            return self._connection.exec_driver_sql(statement, parameters or None)
        except Exception as error:
            if hasattr(error, "hide_parameters"):
                error.hide_parameters = True  # inputs and outputs are no matter of logs
            if known := self._translate(getattr(error, "orig", error)):
                raise known from error
            raise


class DriverTransaction:
    """A driver's own connection, through one cursor."""

    __slots__ = ("_cursor", "_translate", "driver", "home")

    def __init__(self, connection: Any, cursor: Any, home: object, translate: Translate) -> None:
        self._cursor = cursor
        self._translate = translate
        self.driver: Any = connection
        self.home = home

    def rows(self, statement: str, parameters: Parameters = _NOTHING) -> list[Row]:
        self._execute(self._cursor.execute, statement, parameters)
        return self._cursor.fetchall()  # type: ignore[no-any-return]

    def run(self, statement: str, parameters: Parameters = _NOTHING) -> int:
        self._execute(self._cursor.execute, statement, parameters)
        return self._cursor.rowcount  # type: ignore[no-any-return]

    def insert(self, statement: str, parameters: Parameters | Row) -> int | None:
        """Insert one row or none, and return the number that SQLite gave it."""
        self._execute(self._cursor.execute, statement, parameters)
        return self._cursor.lastrowid if self._cursor.rowcount else None

    def run_many(self, statement: str, parameters: Sequence[Parameters | Row]) -> None:
        if parameters:
            self._execute(self._cursor.executemany, statement, parameters)

    def failed(self, error: Exception) -> None:
        """Do nothing: it is known as it is."""

    def _execute(self, execute: Callable[..., object], statement: str, parameters: object) -> None:
        try:
            execute(statement, parameters)
        except Exception as error:
            if known := self._translate(error):
                raise known from error
            raise


def _psycopg() -> "Adapter":
    from psycopg import Cursor
    from psycopg.rows import tuple_row

    def adapt_connection(connection: "psycopg.Connection[Any]", translate: Translate) -> Transaction:
        if connection.closed:
            raise _closed()
        if connection.pgconn.pipeline_status:
            message = "the psycopg connection is in pipeline mode, which hides what becomes of statements: leave it"
            raise InvalidTaskError(message)
        return DriverTransaction(connection, Cursor(connection, row_factory=tuple_row), connection, translate)

    return adapt_connection


def _oracledb() -> "Adapter":
    def adapt_connection(connection: "oracledb.Connection", translate: Translate) -> Transaction:
        if not connection.is_healthy():
            raise _closed()
        return DriverTransaction(connection, None, connection, translate)

    return adapt_connection


def _sqlite3() -> "Adapter":
    from sqlite3 import ProgrammingError

    def adapt_connection(connection: "sqlite3.Connection", translate: Translate) -> Transaction:
        try:
            cursor = connection.cursor()
        except ProgrammingError as error:
            message = f"the sqlite3 connection can't be used here, pass an open one of this thread: {error}"
            raise InvalidTaskError(message) from error
        if connection.text_factory is not str:
            message = "the sqlite3 connection turns text into something else (text_factory); pass one that gives str"
            raise InvalidTaskError(message)
        cursor.row_factory = None
        home = _HOMES.get(id(connection))
        if home is None:
            home = _HOMES[id(connection)] = _Home()
            connection.create_function("topiq_home", 0, home)
        return DriverTransaction(connection, cursor, home, translate)

    return adapt_connection


class _Home:
    """
    Stands for a connection of sqlite3, which can't be referred to weakly.

    The connection keeps it as one of its functions, so that it goes when the connection is closed or forgotten:
    what is known under the connection's id is about that very connection.
    """

    def __call__(self) -> None:
        """Do nothing: no statement calls it."""


_HOMES: "Final[WeakValueDictionary[int, _Home]]" = WeakValueDictionary()


Adapter: TypeAlias = Callable[[Any, Translate], Transaction]


def _closed() -> InvalidTaskError:
    return InvalidTaskError("the connection that was passed as the transaction is closed; pass an open one")


def _alchemy(database: str) -> Adapter:
    def adapt_connection(connection: "Connection", translate: Translate) -> Transaction:
        dialect = connection.dialect
        if dialect.name != database or dialect.driver not in _DRIVERS[database]:
            message = (
                f"this repository is for {database} through {' or '.join(_DRIVERS[database])},"
                f" but the connection is for {dialect.name} through {dialect.driver}"
            )
            raise InvalidTaskError(message)
        return AlchemyTransaction(connection, translate)

    return adapt_connection


def _session(database: str) -> Adapter:
    adapt_connection = _alchemy(database)

    def adapt_session(session: "Session", translate: Translate) -> Transaction:
        from sqlalchemy.exc import UnboundExecutionError

        try:
            connection = session.connection()
        except UnboundExecutionError as error:
            message = "the session is bound to no engine, or to several; pass the Connection that is meant"
            raise InvalidTaskError(message) from error
        return adapt_connection(connection, translate)

    return adapt_session


_DRIVERS: Final = {
    "postgresql": ("psycopg", "psycopg_async"),
    "oracle": ("oracledb",),
    "sqlite": ("pysqlite", "aiosqlite"),
}
_DRIVER_CONNECTIONS: Final[Mapping[tuple[str, str], Callable[[], Adapter]]] = {
    ("postgresql", "psycopg"): _psycopg,
    ("oracle", "oracledb"): _oracledb,
    ("sqlite", "sqlite3"): _sqlite3,
}


_ADAPTERS: Final[dict[tuple[str, type], Adapter]] = {}


def _adapter(database: str, kind: type) -> Adapter:
    """Find the adapter by the names of the classes, so that nothing is imported to ask."""
    for cls in kind.__mro__:
        package = cls.__module__.partition(".")[0]
        if package == "sqlalchemy" and cls.__name__ == "Connection":
            return _alchemy(database)
        if package == "sqlalchemy" and cls.__name__ in ("Session", "scoped_session"):
            return _session(database)
        if cls.__name__ == "Connection" and (database, package) in _DRIVER_CONNECTIONS:
            return _DRIVER_CONNECTIONS[database, package]()
    hint = {"Engine": "; use `with engine.begin() as connection:`"}.get(kind.__name__, "")
    if kind.__name__.startswith("Async"):
        hint = "; wrap the repository: AsyncTaskRepository(repository)"
    message = (
        f"a transaction on {database} is a SQLAlchemy Connection or Session, or a connection of its driver,"
        f" not {kind.__module__}.{kind.__qualname__}{hint}"
    )
    raise InvalidTaskError(message)


def adapt(database: str, tx: Any, translate: Translate) -> Transaction:
    """Wrap what the caller passed as the transaction; errors go through ``translate``."""
    kind = database, type(tx)
    adapter = _ADAPTERS.get(kind)
    if adapter is None:
        adapter = _ADAPTERS[kind] = _adapter(*kind)
    return adapter(tx, translate)
