"""Oracle: owners."""

from typing import Final

from ..statements import OwnerStatements
from .sql import NOW, Chosen, Present, from_now

__all__ = ["OWNER"]

OWNER: Final = OwnerStatements(
    register=Present("""
MERGE INTO task_owner o USING (SELECT :owner AS owner FROM DUAL) s ON (o.owner = s.owner)
WHEN NOT MATCHED THEN INSERT (owner) VALUES (s.owner)
"""),
    heartbeat=f"UPDATE task_owner SET heartbeat = {NOW} WHERE owner = :owner",
    registered="SELECT 1 FROM task_owner WHERE owner = :owner",
    alive=f"SELECT owner FROM task_owner WHERE owner <> :owner AND heartbeat > {from_now('timeout')}",
    expire=Chosen(
        f"""
SELECT t.topic, t.sequence FROM task t
WHERE CASE WHEN t.state = 0 THEN t.owner END IS NOT NULL AND (
    t.lease <= {NOW}
    OR t.owner <> :owner AND NOT EXISTS (
        SELECT 1 FROM task_owner o WHERE o.owner = t.owner AND o.heartbeat >= {from_now("timeout")})
)
FOR UPDATE SKIP LOCKED
""",
        "UPDATE task t SET t.state = 2 WHERE t.topic = :topic AND t.sequence = :sequence AND t.state = 0",
    ),
    purge=f"""
DELETE FROM task_owner o
WHERE o.owner <> :owner AND o.heartbeat < {from_now("timeout")}
AND NOT EXISTS (SELECT 1 FROM task t WHERE t.owner = o.owner)
""",
)
