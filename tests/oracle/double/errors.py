"""PostgreSQL's errors as those that python-oracledb would raise."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

import oracledb
import psycopg
from oracledb import errors

_CODES: Final = {
    "21000": 1427,  # a subquery gives more than one row
    "22001": 12899,
    "22003": 1438,
    "22007": 1843,
    "22008": 1843,
    "22012": 1476,
    "22P02": 1722,
    "23502": 1400,
    "23505": 1,
    "23514": 2290,
    "25006": 1456,
    "34000": 1002,
    "3B001": 1086,
    "40001": 8177,
    "40P01": 60,
    "42601": 933,
    "42701": 957,
    "42702": 918,
    "42703": 904,
    "42704": 1418,
    "42725": 932,
    "42803": 979,
    "42804": 932,
    "42809": 942,
    "42883": 904,
    "42P01": 942,
    "42P07": 955,
    "42P10": 38104,
    "42P18": 932,
    "42846": 932,
    "53300": 18,
    "55P03": 54,
    "57014": 1013,
}
_LOST: Final = 3113
_LOST_STATES: Final = ("08", "57P")


def ora(code: int, message: str, offset: int = 0) -> oracledb.Error:
    """Return an error of the database."""
    return _exception(errors._Error(f"ORA-{code:05}: {message}", code=code, offset=offset))  # noqa: SLF001


def dpy(number: int, **values: Any) -> oracledb.Error:
    """Return an error of the driver, with its own words."""
    create: Any = errors._create_exception  # noqa: SLF001
    exception: oracledb.Error = create(number, **values)
    return exception


def refuse(what: str) -> NoReturn:
    """Raise the error for what this double can't imitate."""
    raise oracledb.NotSupportedError(errors._Error(f"the double of Oracle {what}"))  # noqa: SLF001


def translated(error: psycopg.Error, statement: str = "", *, sequences: tuple[str, ...] = ()) -> oracledb.Error:
    """Return the error of python-oracledb for one of psycopg."""
    state = error.sqlstate
    if state is None and isinstance(error, psycopg.DataError):
        refuse(f"can't pass that on: {error}")
    message = (error.diag.message_primary or str(error)).strip()
    if state is None or state.startswith(_LOST_STATES):
        return ora(_LOST, f"end-of-file on communication channel ({message})")
    return ora(_code(state, message, statement, sequences), _worded(error, message))


def _code(state: str, message: str, statement: str, sequences: tuple[str, ...]) -> int:
    special = {
        ("23503", "update or delete" in message): 2292,
        ("23503", "update or delete" not in message): 2291,
        ("23502", statement == "UPDATE"): 1407,
        ("42883", "operator" in message): 932,
        ("21000", statement == "MERGE"): 30926,
        ("42P01", message.startswith("sequence") or any(f'"{name}"' in message for name in sequences)): 2289,
        ("42P01", message.startswith("index")): 1418,
        ("0A000", "FOR UPDATE" in message): 2014,
    }
    return special.get((state, True), _CODES.get(state, 900))


def _worded(error: psycopg.Error, message: str) -> str:
    constraint = error.diag.constraint_name
    if error.sqlstate == "23505" and constraint:
        return f"unique constraint (DOUBLE.{constraint.upper()}) violated"
    return re.sub(r"\s+", " ", f"{message} (SQLSTATE {error.sqlstate})")


def _exception(error: Any) -> oracledb.Error:  # noqa: ANN401 - a class that the driver keeps to itself
    exception: oracledb.Error = error.exc_type(error)
    return exception
