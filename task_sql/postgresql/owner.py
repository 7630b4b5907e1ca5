"""PostgreSQL: owners."""

from typing import Final

from ..statements import OwnerStatements
from .sql import NOW, sql

__all__ = ["OWNER"]

OWNER: Final = OwnerStatements(
    register=sql("INSERT INTO task_owner (owner) VALUES (:owner) ON CONFLICT DO NOTHING"),
    heartbeat=sql(f"UPDATE task_owner SET heartbeat = {NOW} WHERE owner = :owner"),
    registered=sql("SELECT 1 FROM task_owner WHERE owner = :owner"),
    alive=sql(f"SELECT owner FROM task_owner WHERE owner <> :owner AND heartbeat > {NOW} + CAST(:timeout AS interval)"),
    expire=sql(f"""
WITH left_behind AS MATERIALIZED (
    SELECT t.topic, t.sequence FROM task AS t
    WHERE t.state + 0 = 0 AND t.state + 0 <= 4 AND (
        t.lease <= {NOW}
        OR t.owner <> :owner AND NOT EXISTS (
            SELECT FROM task_owner AS o
            WHERE o.owner = t.owner AND o.heartbeat >= {NOW} + CAST(:timeout AS interval))
    )
    FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE task AS t SET state = 2
WHERE t.topic = ANY (ARRAY(SELECT DISTINCT topic FROM left_behind))
AND t.sequence = ANY (ARRAY(SELECT sequence FROM left_behind))
"""),
    purge=sql(f"""
DELETE FROM task_owner AS o
WHERE o.owner <> :owner AND o.heartbeat < {NOW} + CAST(:timeout AS interval)
AND NOT EXISTS (SELECT FROM task AS t WHERE t.owner = o.owner)
"""),
)
