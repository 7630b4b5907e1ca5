"""SQLite: topics."""

from functools import lru_cache
from typing import Final

from task_api import TaskState

from ..statements import TopicStatements

__all__ = ["TOPIC"]


@lru_cache
def _purge(states: frozenset[TaskState]) -> str:
    ordinals = ", ".join(f"{state:d}" for state in sorted(states))
    return f"""
DELETE FROM task WHERE topic = :topic AND state IN ({ordinals}) AND sequence BETWEEN :first AND :last
"""


TOPIC: Final = TopicStatements(
    initialize="INSERT INTO task_topic (topic) VALUES (:topic) ON CONFLICT DO NOTHING RETURNING 1",
    exclude=None,
    forget="DELETE FROM task_topic WHERE topic = :topic",
    deactivate="DELETE FROM task_activation WHERE topic = :topic",
    known="SELECT 1 FROM task_topic WHERE topic = :topic",
    all="SELECT topic FROM task_topic",
    activation="SELECT active FROM task_activation WHERE topic = :topic",
    activate="""
INSERT INTO task_activation (topic, active) VALUES (:topic, :active)
ON CONFLICT (topic) DO UPDATE SET active = excluded.active
""",
    purge=_purge,
    clear="DELETE FROM task WHERE topic = :topic",
    refresh="ANALYZE task",
)
