"""A cursor with python-oracledb's surface."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import oracledb
import psycopg

from tests.oracle.double.errors import dpy, ora, refuse
from tests.oracle.double.statement import Form, Lock, Statement, parse, rendered
from tests.oracle.double.values import Column, Lob, Var, bound, check_length, number

if TYPE_CHECKING:
    from tests.oracle.double.connection import Connection

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Any]

_NOT_A_QUERY: Final = 1003
_CLOSED: Final = 1006
_NAME_UNKNOWN: Final = 4008
_VALUE_MISSING: Final = 4010
_TYPE_FOR_TYPE: Final = 3013
_NOT_COUNTED: Final = 4006
_WRONG_NUMBER: Final = 4009
_NEW_SHAPE: Final = 2
"""How many arguments a handler of output types takes; the older shape has six."""
_ROW_BY_ROW: Final = ("22", "23")
"""The classes of errors that are about one row."""
_LARGE: Final = 1000
_NUMBERS: Final = {20: (19, 0), 21: (5, 0), 23: (10, 0)}
_TYPES: Final[Mapping[int, Any]] = {
    17: oracledb.DB_TYPE_RAW,
    1042: oracledb.DB_TYPE_CHAR,
    701: oracledb.DB_TYPE_BINARY_DOUBLE,
    1114: oracledb.DB_TYPE_TIMESTAMP,
    1184: oracledb.DB_TYPE_TIMESTAMP_TZ,
    1186: oracledb.DB_TYPE_INTERVAL_DS,
    1700: oracledb.DB_TYPE_NUMBER,
    **dict.fromkeys((19, 25, 705, 1043), oracledb.DB_TYPE_VARCHAR),
    **dict.fromkeys(_NUMBERS, oracledb.DB_TYPE_NUMBER),
}


class Cursor:
    """
    Executes statements and fetches rows.

    A query with FOR UPDATE SKIP LOCKED locks rows as they are fetched: when it is executed ``prefetchrows``, then
    ``arraysize`` at a time. One without SKIP LOCKED locks all its rows when it is executed.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 100
        self.prefetchrows = 2
        self.rowcount = 0
        self.description: list[Column] | None = None
        self.outputtypehandler: Any = None
        self.rowfactory: Callable[..., Any] | None = None
        self._sizes: dict[str, Any] = {}
        self._counts: list[int] | None = None
        self._errors: list[Any] = []
        self._closed = False
        self._statement: Statement | None = None
        self._portal = ""
        self._pending: deque[Row] = deque()
        """What the server still has."""
        self._buffer: deque[Row] = deque()
        """What is fetched and not asked for yet."""
        self._exhausted = True
        self._transaction = 0
        self._converters: list[Callable[[Any], Any]] = []
        self._fetch_lobs = self._fetch_decimals = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def close(self) -> None:
        """Close the cursor, also that of a lost connection."""
        if self._closed:
            raise dpy(_CLOSED)
        self._forget()
        self._closed = True

    # --- binding ---------------------------------------------------------------------------------------------

    def var(self, typ: object, size: int = 0, arraysize: int = 1, outconverter: Any = None, **_: Any) -> Var:  # noqa: ANN401, ARG002
        """Return a new variable."""
        return Var(typ, arraysize, outconverter)

    def setinputsizes(self, *args: object, **kwargs: object) -> None:
        """Say of which types the binds of the next execution are."""
        if args:
            refuse("takes binds by name only")
        self._sizes = {name.lower(): size for name, size in kwargs.items()}

    def _bind(self, statement: Statement, values: Values) -> dict[str, tuple[str, object]]:
        """Check the values of one execution; return the type and the value of each bind."""
        given, names = _normal(values), statement.names
        if given.keys() != names:
            for name in given.keys() - names:
                raise dpy(_NAME_UNKNOWN, name=name)
            for name in names - given.keys() - self._sizes.keys():
                raise dpy(_VALUE_MISSING, name=name)
        result = {}
        for name in statement.binds:
            size = self._sizes.get(name)
            declared = None if isinstance(size, int) else size
            kind, value = bound(given.get(name), declared)
            if kind == "text" and name in statement.indirect:
                check_length(name, value)
            result[name] = kind, value
        return result

    def _variables(self, statement: Statement, values: Values) -> list[Var]:
        """Return the variables that take what RETURNING gives."""
        given = _normal(values)
        variables = [given.get(name, self._sizes.get(name)) for name in statement.into]
        return [each if isinstance(each, Var) else self.var(each or str) for each in variables]

    # --- executing -------------------------------------------------------------------------------------------

    def execute(
        self,
        statement: str,
        parameters: Values | Sequence[Any] | None = None,
        *,
        fetch_lobs: bool | None = None,
        fetch_decimals: bool | None = None,
        **keywords: Any,
    ) -> Cursor | None:
        """Execute a statement; a query returns the cursor."""
        self._check_open()
        self._forget()
        self._fetch_lobs = oracledb.defaults.fetch_lobs if fetch_lobs is None else fetch_lobs
        self._fetch_decimals = oracledb.defaults.fetch_decimals if fetch_decimals is None else fetch_decimals
        parsed = parse(statement)
        values = _by_name(parsed, parameters or keywords)
        try:
            if parsed.form is Form.CONTROL:
                self.connection.control(parsed)
            elif parsed.form is Form.DEFINITION:
                self.connection.define(parsed)
            elif parsed.form is Form.CHANGE:
                self._change(parsed, [values])
            else:
                self._query(statement, parsed, values)
                return self
        finally:
            self._sizes = {}
        return None

    def executemany(
        self,
        statement: str,
        parameters: Sequence[Values | Sequence[Any]],
        *,
        batcherrors: bool = False,
        arraydmlrowcounts: bool = False,
    ) -> None:
        """Execute DML once for each set of parameters."""
        self._check_open()
        self._forget()
        parsed = parse(statement)
        if parsed.form is not Form.CHANGE:
            refuse("executes only DML many times")
        try:
            self._change(parsed, [_by_name(parsed, row) for row in parameters], batcherrors=batcherrors)
        finally:
            self._sizes = {}
        if not arraydmlrowcounts:
            self._counts = None

    def getarraydmlrowcounts(self) -> list[int]:
        """Return how many rows each execution touched."""
        if self._counts is None:
            raise dpy(_NOT_COUNTED)
        return self._counts

    def getbatcherrors(self) -> list[Any]:
        """Return the errors of single executions, each with the offset of its parameters."""
        return self._errors

    def callproc(self, name: str, *_: object, **__: object) -> None:
        """Refuse."""
        refuse(f"executes no PL/SQL, so it can't call {name}")

    callfunc = callproc

    def _change(self, statement: Statement, rows: list[Values], *, batcherrors: bool = False) -> None:
        self._counts = []
        self._errors = []
        if not rows:
            return
        bounds = [self._bind(statement, row) for row in rows]
        text = rendered(statement, _common_kinds(statement, bounds)).encode()
        values: list[Values] = [{name: value for name, (_, value) in row.items()} for row in bounds]
        variables = self._variables(statement, rows[0])
        try:
            with self.connection.executing(statement) as cursor:
                self._counts = _executed(cursor, text, values, variables)
        except oracledb.Error as error:
            if (len(rows) == 1 and not batcherrors) or not _is_about_a_row(error):
                raise
            self._one_by_one(statement, text, values, variables, batcherrors=batcherrors)
        finally:
            self.rowcount = sum(self._counts)
        if len(rows) >= _LARGE:
            self.connection.grown.add(statement.table)

    def _one_by_one(
        self,
        statement: Statement,
        text: bytes,
        values: list[Values],
        variables: list[Var],
        *,
        batcherrors: bool,
    ) -> None:
        """Execute a batch of which a part fails: what came before it stays done."""
        autocommit, self.connection.autocommit = self.connection.autocommit, False
        self._counts = []
        try:
            for place, each in enumerate(values):
                try:
                    with self.connection.executing(statement) as cursor:
                        self._counts += _executed(cursor, text, [each], variables, place)
                except oracledb.Error as error:
                    error.args[0].offset = place
                    if not batcherrors or not _is_about_a_row(error):
                        raise
                    self._errors.append(error.args[0])
                    self._counts.append(0)
        finally:
            self.connection.autocommit = autocommit
        if autocommit:
            self.connection.commit()

    def _query(self, source: str, statement: Statement, values: Values) -> None:
        binds = self._bind(statement, values)
        text = rendered(statement, _common_kinds(statement, [binds]))
        given = {name: value for name, (_, value) in binds.items()}
        self._statement = statement
        self._transaction = self.connection.transactions
        with self.connection.executing(statement) as cursor:
            if statement.lock is not Lock.SKIP:
                cursor.execute(text.encode(), given)
                self._describe(cursor)
                self._pending = deque(cursor.fetchall())
            else:
                self._portal = f"portal_{self.connection.opened()}"
                cursor.execute(f"DECLARE {self._portal} NO SCROLL CURSOR FOR {text}".encode(), given)
                cursor.execute(f"FETCH 0 FROM {self._portal}".encode())
                self._describe(cursor)
            if number := self._first_fetch(source, statement):
                self._take(cursor, number)

    def _first_fetch(self, source: str, statement: Statement) -> int:
        """
        Tell how many rows are fetched with the execution.

        A first one fetches ``prefetchrows``. A repeated one fetches ``arraysize`` if the driver sends it in full, which
        it does when something about the binds is new; here it always fetches the greater number.
        """
        if not statement.lock.holds:
            return len(self._pending)
        if any(column.type_code == oracledb.DB_TYPE_CLOB for column in self.description or ()):
            return 0
        again = source in self.connection.known
        self.connection.known.add(source)
        return max(self.prefetchrows, self.arraysize) if again else self.prefetchrows

    # --- fetching --------------------------------------------------------------------------------------------

    def fetchone(self) -> Any:  # noqa: ANN401 - a tuple, or what a row factory makes of it
        """Return the next row or None."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return the next rows."""
        size = self.arraysize if size is None else size
        return self._fetch(size)

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        return self._fetch(None)

    def _fetch(self, size: int | None) -> list[Any]:
        self._check_open()
        if self._statement is None:
            raise dpy(_NOT_A_QUERY)
        while not self._exhausted and (size is None or len(self._buffer) < size):
            if self._transaction != self.connection.transactions:
                raise ora(1002, "fetch out of sequence")
            with self.connection.executing(self._statement) as cursor:
                self._take(cursor, self.arraysize)
        taken = len(self._buffer) if size is None else min(size, len(self._buffer))
        rows = [self._converted(self._buffer.popleft()) for _ in range(taken)]
        self.rowcount += taken
        return [self.rowfactory(*row) for row in rows] if self.rowfactory else rows

    def _take(self, cursor: psycopg.Cursor[Row], number: int) -> None:
        """Move rows from the server to here, which locks them if they are to be locked one by one."""
        if self._portal:
            rows = cursor.execute(f"FETCH {number} FROM {self._portal}".encode()).fetchall()
        else:
            rows = [self._pending.popleft() for _ in range(min(number, len(self._pending)))]
        self._buffer.extend(rows)
        self._exhausted = len(rows) < number or not (self._portal or self._pending)

    def _describe(self, cursor: psycopg.Cursor[Row]) -> None:
        self.description = [_column(self.connection, cursor, place) for place in range(len(cursor.description or ()))]
        self._exhausted = False
        handler = self.outputtypehandler or self.connection.outputtypehandler
        variables = [_handled(handler, self, column) for column in self.description]
        self._converters = [
            variable.converted if variable else self._default(column)
            for column, variable in zip(self.description, variables, strict=True)
        ]

    def _default(self, column: Column) -> Callable[[Any], Any]:
        if column.type_code == oracledb.DB_TYPE_CLOB and self._fetch_lobs:
            return lambda value: None if value is None else Lob(value)
        if column.type_code == oracledb.DB_TYPE_NUMBER and not self._fetch_decimals:
            return lambda value: None if value is None else number(value)
        if column.type_code == oracledb.DB_TYPE_TIMESTAMP_TZ:
            return lambda value: None if value is None else value.replace(tzinfo=None)
        return lambda value: None if value == "" else value

    def _converted(self, row: Row) -> Row:
        return tuple(convert(value) for convert, value in zip(self._converters, row, strict=True))

    def _forget(self) -> None:
        self.description = None
        self.rowcount = 0
        self._statement = None
        self._portal = ""
        self._pending.clear()
        self._buffer.clear()
        self._exhausted = True

    def _check_open(self) -> None:
        if self._closed:
            raise dpy(_CLOSED)
        self.connection.check_open()


def _executed(
    cursor: psycopg.Cursor[Row], text: bytes, values: Sequence[Values], variables: list[Var], place: int = 0
) -> list[int]:
    """Execute DML for each set of values; return how many rows each touched."""
    if len(values) == 1:
        cursor.execute(text, values[0])
    else:
        cursor.executemany(text, values, returning=True)
    counts = []
    for execution in range(place, place + len(values)):
        counts.append(max(cursor.rowcount, 0))
        rows = cursor.fetchall() if variables else []
        for position, variable in enumerate(variables):
            variable.returned(execution, [row[position] for row in rows])
        cursor.nextset()
    return counts


def _normal(values: Values) -> Values:
    """Name values as binds are named here: in lower case, without quotes."""
    if all(name.islower() and name.isidentifier() for name in values):
        return values
    return {name.strip('":').lower(): value for name, value in values.items()}


def _by_name(statement: Statement, parameters: Values | Sequence[Any]) -> Values:
    if isinstance(parameters, Mapping):
        return parameters
    names = [*statement.binds, *statement.into]
    if len(names) != len(parameters):
        raise dpy(_WRONG_NUMBER, expected_num=len(names), actual_num=len(parameters))
    return dict(zip(names, parameters, strict=True))


def _common_kinds(
    statement: Statement, bounds: Sequence[Mapping[str, tuple[str, object]]]
) -> tuple[tuple[str, str], ...]:
    """Find the one type that each bind has in all executions."""
    kinds = []
    for name in statement.binds:
        seen = {row[name][0] for row in bounds} - {"null"}
        if seen == {"bigint", "numeric"}:
            seen = {"numeric"}
        if len(seen) > 1:
            raise dpy(_TYPE_FOR_TYPE, py_type_name=" or ".join(sorted(seen)), db_type_name=f"that of :{name}")
        kinds.append((name, seen.pop() if seen else "null"))
    return tuple(kinds)


def _is_about_a_row(error: oracledb.Error) -> bool:
    cause = error.__cause__
    return isinstance(cause, psycopg.Error) and (cause.sqlstate or "").startswith(_ROW_BY_ROW)


def _column(connection: Connection, cursor: psycopg.Cursor[Row], place: int) -> Column:
    described = (cursor.description or ())[place]
    oid = described.type_code
    type_ = oracledb.DB_TYPE_CLOB if oid == connection.clob else _TYPES.get(oid)
    if type_ is None:
        raise ora(902, f"invalid datatype: {described.name} is of a type (OID {oid}) that Oracle does not have")
    precision, scale = described.precision, described.scale
    if oid in _NUMBERS:
        of_a_table = cursor.pgresult is not None and cursor.pgresult.ftable(place)
        precision, scale = _NUMBERS[oid] if of_a_table else (0, -127)
    elif type_ == oracledb.DB_TYPE_NUMBER and precision is None:
        precision, scale = 0, -127
    size = described.display_size if type_ == oracledb.DB_TYPE_VARCHAR else None
    name = described.name.swapcase()
    return Column(name, type_, size, size, precision, scale, null_ok=True)


def _handled(handler: Any, cursor: Cursor, column: Column) -> Var | None:  # noqa: ANN401 - a callable of two shapes
    if handler is None:
        return None
    if len(inspect.signature(handler).parameters) == _NEW_SHAPE:
        variable = handler(cursor, column)
    else:
        variable = handler(
            cursor, column.name, column.type_code, column.internal_size or 0, column.precision or 0, column.scale or 0
        )
    return variable if isinstance(variable, Var) else None
