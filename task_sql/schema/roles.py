"""
Least privilege: the rights of each kind of program, as SQL for a DBA.

Each database that has users has a file ``roles.sql``, in the form of the migrations. The roles have the names in it
that they get unless the caller gives another prefix.
"""

import re
from importlib.resources import files
from typing import Final

from task_api import InvalidTaskError

from .layout import VERSION
from .scripts import DATABASES, Migration

__all__ = ["ROLES", "render_roles"]

ROLES: Final = ("reader", "producer", "deleter", "worker", "operator")
"""The kinds of programs that there are roles for; a user may be given several."""

_PREFIX: Final = "topiq"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WITHOUT_USERS: Final = "sqlite"


def render_roles(dialect_name: str, *, prefix: str = _PREFIX, pretty: bool = True, create: bool = True) -> str:
    """
    Return the SQL that gives roles what they need of the tables, to run as it is by the owner of the tables.

    Args:
        dialect_name: The database, as SQLAlchemy spells it; one that has users.
        prefix: What the names of the roles begin with, before an underscore and one of `ROLES`.
        pretty: Whether the view ``task_pretty`` is there.
        create: Create the roles, which takes a right that not every owner of tables has.

    Raises:
        InvalidTaskError: the database has no users, or is unknown; or the prefix is not one.

    """
    if dialect_name == _WITHOUT_USERS:
        message = (
            "SQLite has no users: whoever may write to the file may do everything; protect the file and its folder"
        )
        raise InvalidTaskError(message)
    if dialect_name not in DATABASES:
        known = ", ".join(name for name in DATABASES if name != _WITHOUT_USERS)
        message = f"there are no roles for {dialect_name!r}, only for {known}"
        raise InvalidTaskError(message)
    if not isinstance(prefix, str) or not _NAME.fullmatch(prefix):
        message = f"a prefix is up to 40 of a-z, 0-9 and _, beginning with a letter, not {prefix!r}"
        raise InvalidTaskError(message)
    script = (files(__package__) / dialect_name / "roles.sql").read_text("utf-8")
    chosen = Migration(VERSION, script).render({"pretty": pretty, "create": create})
    return re.sub(rf"\b{_PREFIX}_(?={'|'.join(ROLES)}\b)", f"{prefix}_", chosen)
