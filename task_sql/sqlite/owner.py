"""SQLite: owners."""

from typing import Final

from ..statements import OwnerStatements
from .listed import in_open
from .times import NOW, from_now

__all__ = ["OWNER"]

OWNER: Final = OwnerStatements(
    register="INSERT INTO task_owner (owner) VALUES (:owner) ON CONFLICT DO NOTHING",
    heartbeat=f"UPDATE task_owner SET heartbeat = {NOW} WHERE owner = :owner",
    registered="SELECT 1 FROM task_owner WHERE owner = :owner",
    alive=f"SELECT owner FROM task_owner WHERE owner <> :owner AND heartbeat > {from_now('timeout')}",
    expire=f"""
UPDATE task SET state = 2
WHERE state = 0 AND {in_open()} AND (
    lease <= {NOW}
    OR owner <> :owner AND NOT EXISTS (
        SELECT 1 FROM task_owner AS o WHERE o.owner = task.owner AND o.heartbeat >= {from_now("timeout")})
)
""",
    purge=f"""
DELETE FROM task_owner
WHERE owner <> :owner AND heartbeat < {from_now("timeout")}
AND NOT EXISTS (SELECT 1 FROM task WHERE task.owner = task_owner.owner)
""",
)
