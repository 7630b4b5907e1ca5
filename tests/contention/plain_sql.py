"""Plain SQL inside a transaction of any kind: what an application does beside the library's calls."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy

if TYPE_CHECKING:
    from tests.backends import Transaction


def execute(transaction: Transaction, statement: str, **params: object) -> list[tuple[Any, ...]]:
    """Run a statement with ``:name`` parameters in this transaction and give its rows."""
    if isinstance(transaction, psycopg.Connection):
        text = re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement)
        cursor = transaction.execute(text.encode(), params)
        return cursor.fetchall() if cursor.description else []
    if isinstance(transaction, sqlite3.Connection):
        return list(transaction.execute(statement, params))
    if _is_oracle(transaction):
        with transaction.cursor() as cursor:
            cursor.execute(statement, params)
            return list(cursor) if cursor.description else []
    result = transaction.execute(sqlalchemy.text(statement), params)
    return [tuple(row) for row in result] if result.returns_rows else []


def hurry(transaction: Transaction) -> None:
    """Make this driver's transaction fail rather than wait: what passes has waited for nobody."""
    if _is_oracle(transaction):
        transaction.call_timeout = 5000  # of the whole call, however slow the machine is
    else:
        execute(transaction, "SET LOCAL lock_timeout = '500ms'")


def _is_oracle(transaction: Transaction) -> bool:
    return type(transaction).__module__.startswith("oracledb")
