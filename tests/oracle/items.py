"""One table of items on the double of Oracle, and short ways to change and to read it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import oracledb
import pytest

if TYPE_CHECKING:
    from tests.oracle.double import Connection

TABLE = """
CREATE TABLE item (
    id NUMBER(19) DEFAULT item_sequence.NEXTVAL NOT NULL,
    name VARCHAR2(10 CHAR) NOT NULL,
    amount NUMBER(5, 2),
    text CLOB,
    moment TIMESTAMP(6) DEFAULT SYS_EXTRACT_UTC(SYSTIMESTAMP) NOT NULL,
    CONSTRAINT item_key PRIMARY KEY (id) USING INDEX INITRANS 8,
    CONSTRAINT item_name UNIQUE (name),
    CONSTRAINT item_amount CHECK (amount >= 0)
) PCTFREE 30
"""
INSERT = "INSERT INTO item (name) VALUES (:name)"


def run(connection: Connection, statement: str, **binds: object) -> int:
    """Execute a statement; return how many rows it touched."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement, binds)
        return cursor.rowcount


def rows(connection: Connection, query: str, **binds: object) -> list[Any]:
    """Execute a query; return its rows."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(query, binds, fetch_lobs=False)
        return cursor.fetchall()


def fill(connection: Connection, number: int) -> None:
    """Insert items 1, 2, 3, ... and commit."""
    with closing(connection.cursor()) as cursor:
        cursor.executemany(INSERT, [{"name": f"n{place}"} for place in range(1, number + 1)])
    connection.commit()


def code(connection: Connection, statement: str, **binds: object) -> int:
    """Return the number of the ORA error that a statement meets."""
    with pytest.raises(oracledb.Error) as caught:
        rows(connection, statement, **binds)
    return int(caught.value.args[0].code)
