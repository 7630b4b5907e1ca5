"""PostgreSQL: statements in psycopg's parameter style, and the expressions that they share."""

import re
from typing import Final

__all__ = ["CLAIMED", "KEY", "NOTIFY", "NOW", "OWNER", "UNLOCK", "sql"]

_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")

NOW: Final = "statement_timestamp()"
"""The present time: of the statement, as a transaction may be long."""

NOTIFY: Final = "(SELECT pg_notify('task_notification', 'WORK ' || md5(:topic)) WHERE :notify)"
"""Announce work on the topic when the transaction commits; one statement does so once, one transaction too."""

KEY: Final = "hashtextextended({identifier}, hashtextextended(CAST(:topic AS text), {salt}))"
"""A number for an identifier of the topic, to lock by."""

CLAIMED: Final = "string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',')"
"""
The tasks that this transaction has claimed for itself, each as ``sequence:token:owner``, or NULL.

Such a claim is a lock on a READY row, and a lock can't be told from one's own. A setting that is local to the
transaction can: it ends with it, and goes back with a savepoint, just as the lock does.
"""

OWNER: Final = "hashtextextended(CAST(:owner AS text), 0)"
"""The owner, as it is noted with a claim."""

UNLOCK: Final = f"""unlocked AS (
    DELETE FROM task_mutex
    WHERE key = ANY(ARRAY(
        SELECT {KEY.format(identifier="i", salt=":salt")} FROM unnest(CAST(:identifiers AS text[])) AS i))
)"""
"""Delete the rows that the locks on identifiers were had by; the locks stay."""


def sql(statement: str) -> str:
    """Turn ``:name`` into psycopg's ``%(name)s``."""
    return _PARAMETER.sub(r"%(\1)s", statement)
