"""How processes and sessions behaved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor.asking import complain

if TYPE_CHECKING:
    import sqlite3


def sessions(evidence: sqlite3.Connection) -> list[str]:
    """Nobody holds a transaction open when there is nothing to do."""
    return complain(evidence, "sessions in a transaction", "SELECT * FROM session")


def locks(evidence: sqlite3.Connection) -> list[str]:
    """Nobody holds a lock when there is nothing to do."""
    return complain(evidence, "locks", "SELECT kind, name, count(*) AS number FROM lock GROUP BY kind, name")


def members(evidence: sqlite3.Connection) -> list[str]:
    """No process ended by itself, and each ended well when it was told to."""
    return complain(evidence, "members", "SELECT * FROM member")
