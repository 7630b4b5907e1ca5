"""SQLite: pushing. A writer is alone with the database, so there is nobody to wait for."""

from typing import Final

from task_api import Insertion

from ..statements import PushStatements
from .times import NOW, from_now

__all__ = ["DRAW", "PUSH"]

DRAW: Final = f"""
UPDATE sqlite_sequence SET seq = seq + :number
WHERE name = 'task' AND EXISTS (SELECT 1 FROM task_topic WHERE topic = :topic)
RETURNING seq, {NOW}
"""
"""Draw numbers for a batch, unless the topic is unknown; the last of them comes back with the time."""


def _older(finished: str) -> str:
    """Find the older tasks of identifiers, open ones and of the finished those that are meant."""
    return f"""
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_open
        ON t.topic = :topic AND t.identifier = g.value AND t.state IN (1, 2, 3, 4) AND t.state <= 4
    UNION ALL
    SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t INDEXED BY task_done
        ON t.topic = :topic AND t.identifier = g.value AND t.state >= 5 {finished}"""


PUSH: Final = PushStatements(
    one=f"""
INSERT INTO task (topic, identifier, input, reference, state, due)
SELECT topic, :identifier, :input, :reference, :state, coalesce(:due, {from_now("delay")})
FROM task_topic WHERE topic = :topic
RETURNING sequence
""",
    many="""
INSERT INTO task (topic, created, sequence, identifier, input, reference, state, due)
VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%d %H:%M:%f', 'now', ?)))
""",
    copy="""
INSERT INTO task (topic, sequence, identifier, input, reference, state, origin)
SELECT t.topic, :first + g.key, t.identifier, t.input, t.reference, json_extract(g.value, '$[1]'), t.sequence
FROM json_each(:given) AS g CROSS JOIN task AS t ON t.sequence = json_extract(g.value, '$[0]')
RETURNING origin, sequence
""",
    retire={
        Insertion.SUPERSEDE: """
UPDATE task SET state = 8
WHERE topic = :topic AND state = 1 AND identifier IN (SELECT value FROM json_each(:given))
""",
        Insertion.REPLACE: f"""
UPDATE task SET state = 8, descent = max(descent, state)
WHERE sequence IN ({_older("WHERE t.state <= 6")}
)
""",
        Insertion.DELETE: f"""
DELETE FROM task
WHERE sequence IN ({_older("")}
)
""",
    },
)
