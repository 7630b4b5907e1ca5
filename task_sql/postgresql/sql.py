"""PostgreSQL: statements in psycopg's parameter style, and the expressions that they share."""

import re
from typing import Final

__all__ = ["KEY", "NOTIFY", "NOW", "sql"]

_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")

NOW: Final = "statement_timestamp()"
"""The present time: of the statement, as a transaction may be long."""

NOTIFY: Final = "(SELECT pg_notify('task_notification', 'WORK ' || md5(:topic)) WHERE :notify)"
"""Announce work on the topic when the transaction commits; one statement does so once, one transaction too."""

KEY: Final = "hashtextextended({identifier}, hashtextextended(CAST(:topic AS text), {salt}))"
"""A number for an identifier of the topic, to lock by."""


def sql(statement: str) -> str:
    """Turn ``:name`` into psycopg's ``%(name)s``."""
    return _PARAMETER.sub(r"%(\1)s", statement)
