"""
The caller's transaction on Oracle, through a driver's cursor also where SQLAlchemy has the connection.

How many rows a cursor fetches at once decides how many it locks, which nothing above the driver lets one say; nor can
array DML with what it returns be had there.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, cast

from task_api import InvalidTaskError

from ..transaction import Parameters, Row, Translate
from .sql import Chosen, Present, Whole

__all__ = ["BACK", "SAVEPOINT", "OracleTransaction", "checked_driver", "code_of"]

_OLDEST: Final = 4
"""The first version of the driver that will do."""
_FETCHED: Final = 500
"""How many rows a query fetches at once."""
_DUPLICATE: Final = 1
_SHORT: Final = 1000
"""So many characters fit into 4000 bytes, the most that an expression takes as text."""
_BIND: Final = re.compile(r"(?<![:\w]):([a-z_]+)")
_RESERVED: Final = {"most": "size", "beyond": "start"}
"""Parameters that go by another name, as theirs is a reserved word."""
SAVEPOINT: Final = "SAVEPOINT task_hold"
BACK: Final = "ROLLBACK TO SAVEPOINT task_hold"


class OracleTransaction:
    """A connection of the driver."""

    __slots__ = ("_clob", "_failed", "_long", "_translate", "driver", "home")

    def __init__(self, driver: Any, home: object, translate: Translate, failed: Callable[[Exception], None]) -> None:
        import oracledb

        checked_driver(oracledb.__version__)
        self.driver: Any = driver
        self.home: object = home
        self._translate = translate
        self._failed = failed
        self._clob = oracledb.DB_TYPE_CLOB
        self._long = oracledb.DB_TYPE_LONG

    @property
    def autocommit(self) -> bool:
        """Whether each statement would be a transaction of its own."""
        return bool(self.driver.autocommit and not self.driver.transaction_in_progress)

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Make several statements one transaction, if nothing else does."""
        if not self.autocommit:
            yield
            return
        self.driver.autocommit = False
        try:
            yield
            self.driver.commit()
        except BaseException:
            self.driver.rollback()
            raise
        finally:
            self.driver.autocommit = True

    def rows(self, statement: str, parameters: Parameters = {}) -> list[Row]:  # noqa: B006 - never changed
        """Execute a query, or what is chosen by one, and return all its rows."""
        if not isinstance(statement, Chosen):
            with self._cursor(_FETCHED) as cursor:
                self._execute(cursor.execute, statement, self._table(statement, parameters))
                return self._fetched(cursor.fetchall)
        with self.unit():
            chosen = [row for batch in self._chosen(statement, parameters) for row in batch]
            if not statement.read:
                return [tuple(row.values()) for row in chosen]
            if not chosen:
                return []
            sequences = [row["sequence"] for row in chosen]
            return self.rows(statement.read, {"topic": parameters["topic"], "sequence": sequences})

    def run(self, statement: str, parameters: Parameters = {}) -> int:  # noqa: B006 - never changed
        """Execute a statement, for each element of lists among its parameters; return how many rows it touched."""
        if isinstance(statement, Chosen):
            with self.unit():
                return sum(len(batch) for batch in self._chosen(statement, parameters))
        if isinstance(statement, Whole):
            return self._whole(statement, parameters)
        if any(isinstance(value, list) for value in parameters.values()):
            return sum(self.each(statement, parameters))
        with self._cursor() as cursor:
            try:
                self._execute(cursor.execute, statement, self._bound(statement, parameters))
            except Exception as error:
                if isinstance(statement, Present) and code_of(getattr(error, "orig", error)) == _DUPLICATE:
                    return 0
                raise
            return max(int(cursor.rowcount), 0)

    def failed(self, error: Exception) -> None:
        """Raise a driver's error as the caller knows it."""
        self._failed(error)

    def run_many(self, statement: str, parameters: Sequence[Parameters | Row]) -> None:
        """Execute a statement once for each set of parameters, of which there may be none."""
        if parameters:
            with self._cursor() as cursor:
                self._execute(cursor.executemany, statement, parameters)

    def each(self, statement: str, parameters: Parameters) -> list[int]:
        """Execute a statement for each element of lists among its parameters; return how many rows each touched."""
        lists = {name: value for name, value in parameters.items() if isinstance(value, list)}
        shared = {name: value for name, value in parameters.items() if name not in lists}
        records = [{**shared, **dict(zip(lists, values, strict=True))} for values in zip(*lists.values(), strict=True)]
        return self._array(statement, [self._bound(statement, record) for record in records])

    def insert(self, statement: str, records: Sequence[Parameters]) -> list[int]:
        """Insert rows; return the sequence of each."""
        with self._cursor() as cursor:
            drawn = cursor.var(int, arraysize=len(records))
            cursor.setinputsizes(sequence=drawn)
            bound = [self._bound(statement, record) for record in records]
            self._execute(cursor.executemany, statement, bound)
            return [int(drawn.getvalue(place)[0]) for place in range(len(records))]

    @contextmanager
    def reading(self, statement: str, parameters: Parameters, size: int) -> Iterator[Callable[[int], list[Row]]]:
        """Execute a query whose rows are fetched as they are needed."""
        with self._cursor(size) as cursor:
            self._execute(cursor.execute, statement, self._table(statement, parameters))
            yield lambda number: self._fetched(cursor.fetchmany, number)

    def _chosen(self, statement: Chosen, parameters: Parameters) -> Iterator[list[dict[str, Any]]]:
        """Fetch what is to be chosen, at most ``size`` rows where that is given, and change it."""
        most = cast("int | None", parameters.get("size"))
        size = most or _FETCHED
        with self._cursor(size) as cursor:
            self._execute(cursor.execute, statement, self._table(statement, parameters))
            names = [column[0].lower() for column in cursor.description]
            while rows := self._fetched(cursor.fetchmany, size):
                batch = [dict(zip(names, row, strict=True)) for row in rows]
                if statement.change:
                    bound = [self._bound(statement.change, {**parameters, **row}) for row in batch]
                    counts = self._array(statement.change, bound)
                    batch = [row for row, count in zip(batch, counts, strict=True) if count]
                yield batch
                if most:
                    return

    def _whole(self, statement: Whole, parameters: Parameters) -> int:
        self._plain(SAVEPOINT)
        counts = self.each(statement, parameters)
        if not all(counts):
            self._plain(BACK)
        return sum(counts)

    def _plain(self, statement: str) -> None:
        with self._cursor() as cursor:
            self._execute(cursor.execute, statement, {})

    def _array(self, statement: str, bound: list[dict[str, object]]) -> list[int]:
        with self._cursor() as cursor:
            self._execute(cursor.executemany, statement, bound, arraydmlrowcounts=True)
            return list(cursor.getarraydmlrowcounts())

    def _bound(self, statement: str, parameters: Parameters) -> dict[str, object]:
        """Choose the parameters that a statement has, in the form that the driver takes."""
        return {name: self._value(name, parameters[_RESERVED.get(name, name)]) for name in _names(statement)}

    def _table(self, statement: str, parameters: Parameters) -> dict[str, object]:
        """Do the same for a query, which reads lists as a table."""
        lists = [value for value in parameters.values() if isinstance(value, list)]
        if not lists:
            return self._bound(statement, parameters)
        text = json.dumps(list(zip(*lists, strict=True)), ensure_ascii=False)
        return self._bound(statement, {**parameters, "given": self._expression(text)})

    def _value(self, name: str, value: object) -> object:
        if isinstance(value, bool):
            return int(value)
        if name == "message" and isinstance(value, str):
            return self._expression(value)
        return value

    def _expression(self, text: str) -> object:
        """Give a text the form in which it can be part of an expression, however long it is."""
        return text if len(text) <= _SHORT else self.driver.createlob(self._clob, text)

    @contextmanager
    def _cursor(self, fetched: int = 1) -> Iterator[Any]:
        cursor = self.driver.cursor()
        try:
            # A first execution fetches as many rows as the one says, a repeated one as many as the other.
            cursor.arraysize = cursor.prefetchrows = fetched
            cursor.outputtypehandler = self._output_type
            yield cursor
        finally:
            cursor.close()

    def _output_type(self, cursor: Any, column: Any) -> object:
        if column.type_code is self._clob:
            return cursor.var(self._long, arraysize=cursor.arraysize)
        return None

    def _fetched(self, fetch: Callable[..., list[Row]], *arguments: int) -> list[Row]:
        try:
            return fetch(*arguments)
        except Exception as error:
            self._raise(error)
            raise

    def _execute(self, execute: Callable[..., object], statement: str, parameters: object, **options: object) -> None:
        try:
            execute(str(statement), parameters, **options)
        except Exception as error:
            self._raise(error)
            raise

    def _raise(self, error: Exception) -> None:
        if known := self._translate(error):
            raise known from error
        self._failed(error)


def code_of(error: BaseException) -> int | None:
    """Return the number of an ORA error, if it is one."""
    return getattr(error.args[0], "code", None) if error.args else None


@lru_cache
def checked_driver(version: str) -> None:
    """See to it that the driver is new enough."""
    if int(version.partition(".")[0]) < _OLDEST:
        message = f"python-oracledb {_OLDEST}.0 or newer is needed, {version} is installed; pip install -U oracledb"
        raise InvalidTaskError(message)


@lru_cache
def _names(statement: str) -> tuple[str, ...]:
    """Return the names of a statement's parameters; what the statement itself gives back is none."""
    read = statement.partition("RETURNING")[0]
    return tuple(dict.fromkeys(_BIND.findall(re.sub(r"'[^']*'", "", read))))
