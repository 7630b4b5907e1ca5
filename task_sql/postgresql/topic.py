"""PostgreSQL: topics."""

from functools import lru_cache
from typing import Final

from task_api import TaskState

from ..statements import TopicStatements
from .sql import sql

__all__ = ["TOPIC"]


@lru_cache
def _purge(states: frozenset[TaskState]) -> str:
    ordinals = ", ".join(f"{state:d}" for state in sorted(states))
    return sql(f"""
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t
    WHERE t.topic = :topic AND t.state IN ({ordinals}) AND t.sequence BETWEEN :first AND :last
    FOR UPDATE SKIP LOCKED
)
DELETE FROM task AS t
WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
""")


TOPIC: Final = TopicStatements(
    initialize=sql("SELECT task_initialize(:topic), task_plan()"),
    exclude=sql("SELECT pg_advisory_xact_lock(hashtextextended(:topic, 2))"),
    forget=sql("DELETE FROM task_topic WHERE topic = :topic"),
    deactivate=sql("DELETE FROM task_activation WHERE topic = :topic"),
    known=sql("SELECT 1 FROM task_topic WHERE topic = :topic"),
    all="SELECT topic FROM task_topic",
    activation=sql("SELECT active FROM task_activation WHERE topic = :topic"),
    activate=sql("""
INSERT INTO task_activation (topic, active) VALUES (:topic, :active)
ON CONFLICT (topic) DO UPDATE SET active = excluded.active
RETURNING (SELECT pg_notify('task_notification', 'ACTIVATION ' || md5(:topic)) WHERE :notify)
"""),
    purge=_purge,
    clear=sql("""
WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t WHERE t.topic = :topic ORDER BY t.sequence FOR UPDATE
)
DELETE FROM task AS t WHERE t.topic = :topic AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
"""),
    refresh="ANALYZE task",
)
