"""Oracle: topics."""

from functools import lru_cache
from typing import Final

from task_api import TaskState

from ..statements import TopicStatements
from .sql import Chosen, Present

__all__ = ["ALONE", "TOPIC"]


ALONE: Final = "LOCK TABLE task_topic IN SHARE ROW EXCLUSIVE MODE"
"""Wait for others who make topics known, so that two with several new ones can't wait for each other."""


@lru_cache
def _purge(states: frozenset[TaskState]) -> Chosen:
    ordinals = ", ".join(f"{state:d}" for state in sorted(states))
    return Chosen(
        f"""
SELECT t.sequence FROM task t
WHERE t.topic = :topic AND t.state IN ({ordinals}) AND t.sequence BETWEEN :first AND :last
FOR UPDATE SKIP LOCKED
""",
        f"DELETE FROM task t WHERE t.topic = :topic AND t.sequence = :sequence AND t.state IN ({ordinals})",
    )


TOPIC: Final = TopicStatements(
    initialize=Present("""
MERGE INTO task_topic t USING (SELECT :topic AS topic FROM DUAL) s ON (t.topic = s.topic)
WHEN NOT MATCHED THEN INSERT (topic) VALUES (s.topic)
"""),
    exclude=None,
    forget="DELETE FROM task_topic WHERE topic = :topic",
    deactivate="DELETE FROM task_activation WHERE topic = :topic",
    known="SELECT 1 FROM task_topic WHERE topic = :topic",
    all="SELECT topic FROM task_topic",
    activation="SELECT active FROM task_activation WHERE topic = :topic",
    activate="""
MERGE INTO task_activation a USING (SELECT :topic AS topic, :active AS active FROM DUAL) s ON (a.topic = s.topic)
WHEN MATCHED THEN UPDATE SET a.active = s.active
WHEN NOT MATCHED THEN INSERT (topic, active) VALUES (s.topic, s.active)
""",
    purge=_purge,
    clear="DELETE FROM task WHERE topic = :topic",
    # Gathering statistics commits; Oracle does so by itself every night.
    refresh=None,
)
