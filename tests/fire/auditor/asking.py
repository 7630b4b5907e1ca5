"""How rules ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

SHOWN = 5
"""How many rows a complaint shows."""


def complain(evidence: sqlite3.Connection, about: str, statement: str) -> list[str]:
    """Complain about the rows that a statement finds: how many there are, and the first of them."""
    cursor = evidence.execute(statement)
    names = [column[0] for column in cursor.description]
    shown = cursor.fetchmany(SHOWN)
    if not shown:
        return []
    number = len(shown) + sum(1 for _ in cursor)
    examples = "; ".join(", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True)) for row in shown)
    return [f"{about}: {number}, e.g. {examples}"]
