"""What Python values become when they are bound, and what comes back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import oracledb

from tests.oracle.double.errors import dpy, ora

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VALUE_NOT_SUPPORTED: Final = 3002
_TYPE_FOR_TYPE: Final = 3013
_WIDEST: Final = 4000
_LARGEST: Final = 2**63

TEXTS: Final = (
    oracledb.DB_TYPE_VARCHAR,
    oracledb.DB_TYPE_NVARCHAR,
    oracledb.DB_TYPE_CHAR,
    oracledb.DB_TYPE_NCHAR,
    oracledb.DB_TYPE_LONG,
    oracledb.DB_TYPE_LONG_NVARCHAR,
)
LOBS: Final = (oracledb.DB_TYPE_CLOB, oracledb.DB_TYPE_NCLOB)
TIMES: Final = (oracledb.DB_TYPE_DATE, oracledb.DB_TYPE_TIMESTAMP, oracledb.DB_TYPE_TIMESTAMP_TZ)
_PYTHON_TYPES: Final[Mapping[Any, Any]] = {
    int: oracledb.DB_TYPE_NUMBER,
    float: oracledb.DB_TYPE_NUMBER,
    Decimal: oracledb.DB_TYPE_NUMBER,
    str: oracledb.DB_TYPE_VARCHAR,
    dt.datetime: oracledb.DB_TYPE_DATE,
    dt.date: oracledb.DB_TYPE_DATE,
    dt.timedelta: oracledb.DB_TYPE_INTERVAL_DS,
    bytes: oracledb.DB_TYPE_RAW,
}


class Lob:
    """A CLOB as the driver gives it: a locator to read from."""

    type = oracledb.DB_TYPE_CLOB

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, offset: int = 1, amount: int | None = None) -> str:
        """Return the text from a place, which counts from one."""
        return self._text[offset - 1 : None if amount is None else offset - 1 + amount]

    def size(self) -> int:
        """Return how many characters there are."""
        return len(self._text)


class Column(NamedTuple):
    """What the driver tells of a column; the first seven are those of the DBAPI."""

    name: str
    type_code: Any
    display_size: int | None
    internal_size: int | None
    precision: int | None
    scale: int | None
    null_ok: bool

    @property
    def type(self) -> Any:  # noqa: ANN401 - one of the driver's constants
        """The type once more, under the driver's own name for it."""
        return self.type_code


class Var:
    """A variable: what RETURNING fills, or what a column is fetched into."""

    def __init__(self, type_: Any, arraysize: int, outconverter: Callable[[Any], Any] | None) -> None:  # noqa: ANN401
        self.python_type = type_
        self.type = db_type(type_)
        self.num_elements = arraysize
        self.outconverter = outconverter
        self.values: list[Any] = [None] * arraysize

    def getvalue(self, pos: int = 0) -> Any:  # noqa: ANN401 - whatever it holds
        """Return what one execution gave: a list, where it is about RETURNING."""
        if pos >= self.num_elements:
            message = "list index out of range"
            raise IndexError(message)
        return self.values[pos]

    def setvalue(self, pos: int, value: object) -> None:
        """Give the variable a value to bind."""
        self.values[pos] = value

    def returned(self, place: int, values: list[Any]) -> None:
        """Take what RETURNING gave for one execution."""
        if place >= self.num_elements:
            raise ora(1485, f"a variable of {self.num_elements} elements is too small, make it with arraysize=")
        self.values[place] = [self.converted(value) for value in values]

    def converted(self, value: Any) -> Any:  # noqa: ANN401 - a value of the database
        """Turn a value of a column into what the variable is for."""
        if value is None or value == "":
            return None
        value = _as(self.type, self.python_type, value)
        return self.outconverter(value) if self.outconverter else value


def _as(type_: Any, python_type: Any, value: Any) -> Any:  # noqa: ANN401 - values of any type
    if type_ in TEXTS:
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if type_ in LOBS:
        return Lob(value)
    if type_ == oracledb.DB_TYPE_DATE and isinstance(value, dt.datetime):
        return value.replace(microsecond=0)
    if isinstance(value, (int, Decimal)):
        if python_type is Decimal:
            return Decimal(value)
        return float(value) if type_ == oracledb.DB_TYPE_BINARY_DOUBLE else number(value)
    return value


def number(value: int | Decimal) -> int | float:
    """Return a NUMBER as the driver does: whole ones as int."""
    return int(value) if value == int(value) else float(value)


def db_type(type_: Any) -> Any:  # noqa: ANN401 - a type of Python or of the driver
    """Return the driver's type for a type of Python."""
    return _PYTHON_TYPES.get(type_, type_) if isinstance(type_, type) else type_


def bound(value: object, declared: Any) -> tuple[str, object]:  # noqa: ANN401 - a type of Python or of the driver
    """Return the type of PostgreSQL that a value is bound with, and the value for it."""
    if declared is not None:
        declared = declared.type if isinstance(declared, Var) else db_type(declared)
    if isinstance(value, Var):
        value = value.getvalue()
    if value is None or value == "":
        return _TYPE_NAMES.get(declared, "null"), None
    if declared is None and type(value) is str:  # most values are
        return "text", value
    if isinstance(value, bool):
        raise ora(3115, "unsupported network datatype: BOOLEAN, which 19c does not have; bind 0 or 1")
    for types, bind in _BINDERS:
        if isinstance(value, types):
            kind, converted = bind(value, declared)
            group = "numeric" if kind == "bigint" else kind
            if group != _TYPE_NAMES.get(declared, group):
                raise dpy(_TYPE_FOR_TYPE, py_type_name=type(value).__name__, db_type_name=declared.name)
            return kind, converted
    raise dpy(_VALUE_NOT_SUPPORTED, type_name=type(value).__name__)


def _bind_text(value: str, declared: object) -> tuple[str, object]:
    return "ora.clob" if declared in LOBS else "text", value


def _bind_lob(value: Lob, _: object) -> tuple[str, object]:
    return "ora.clob", value.read()


def _bind_integer(value: int, _: object) -> tuple[str, object]:
    return "bigint" if -_LARGEST <= value < _LARGEST else "numeric", value


def _bind_number(value: float | Decimal, _: object) -> tuple[str, object]:
    return "numeric", Decimal(repr(value)) if isinstance(value, float) else value


def _bind_time(value: dt.date, declared: object) -> tuple[str, object]:
    """Lose the zone, which the driver does not send, and as a DATE the fraction of the second."""
    moment = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001
    if declared == oracledb.DB_TYPE_TIMESTAMP_TZ:
        return "timestamptz", moment.replace(tzinfo=dt.UTC)
    exact = declared == oracledb.DB_TYPE_TIMESTAMP
    return "timestamp", moment.replace(tzinfo=None, microsecond=moment.microsecond if exact else 0)


def _bind_interval(value: dt.timedelta, _: object) -> tuple[str, object]:
    return "interval", value


def _bind_bytes(value: bytes, _: object) -> tuple[str, object]:
    return "bytea", value


_BINDERS: Final[tuple[tuple[Any, Callable[[Any, Any], tuple[str, object]]], ...]] = (
    (str, _bind_text),
    (Lob, _bind_lob),
    (int, _bind_integer),
    ((float, Decimal), _bind_number),
    (dt.date, _bind_time),
    (dt.timedelta, _bind_interval),
    (bytes, _bind_bytes),
)
_TYPE_NAMES: Final[Mapping[Any, str]] = {
    **dict.fromkeys(TEXTS, "text"),
    **dict.fromkeys(LOBS, "ora.clob"),
    oracledb.DB_TYPE_NUMBER: "numeric",
    oracledb.DB_TYPE_DATE: "timestamp",
    oracledb.DB_TYPE_TIMESTAMP: "timestamp",
    oracledb.DB_TYPE_TIMESTAMP_TZ: "timestamptz",
    oracledb.DB_TYPE_INTERVAL_DS: "interval",
    oracledb.DB_TYPE_RAW: "bytea",
}


def check_length(name: str, value: object) -> None:
    """Refuse a text that is too long to be part of an expression."""
    if isinstance(value, str) and len(value.encode()) > _WIDEST:
        raise ora(1461, f"can bind a LONG value only for insert into a LONG column: :{name}")
