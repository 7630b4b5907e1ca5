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
    result = transaction.execute(sqlalchemy.text(statement), params)
    return [tuple(row) for row in result] if result.returns_rows else []


def hurry(transaction: Transaction) -> None:
    """Make this PostgreSQL transaction fail rather than wait: what passes has waited for nobody."""
    execute(transaction, "SET LOCAL lock_timeout = '500ms'")
