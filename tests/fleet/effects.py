"""What the members' work does: a row for each task, written in the transaction that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from task_api import Task

CREATE = "CREATE TABLE effect (sequence bigint, identifier text, owner text, attempt integer)"
"""Without a key, so that a second effect of a task is seen and not refused."""

_INSERT = text(
    "INSERT INTO effect (sequence, identifier, owner, attempt) VALUES (:sequence, :identifier, :owner, :attempt)"
)


def write(tx: Connection, owner: str, tasks: Iterable[Task]) -> None:
    """Write one row for each task."""
    rows = [
        {"sequence": task.sequence, "identifier": task.identifier, "owner": owner, "attempt": task.attempt}
        for task in tasks
    ]
    if rows:
        tx.execute(_INSERT, rows)
