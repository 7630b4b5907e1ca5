"""URLs as users write them, or what is said of one that names no database, without repeating it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy
from sqlalchemy import exc

from task_api import InvalidTaskError
from task_sql.registry import dialect_named

from .errors import Exit, Failure, no_url

if TYPE_CHECKING:
    from sqlalchemy import URL

__all__ = ["parsed_url"]

_OWN_DRIVER = ("postgresql", "sqlite")
_NEARLY = {"postgres": "postgresql", "pgsql": "postgresql", "pg": "postgresql", "sqlite3": "sqlite"}
_MEMORY = (None, "", ":memory:")


def parsed_url(url: str | None) -> URL:
    """Read a URL, or say what is wrong with it without repeating it."""
    if not url or url.isspace():
        raise no_url()
    try:
        url.encode()
        parsed = sqlalchemy.make_url(url.strip())
    except UnicodeEncodeError as error:
        message = "the URL must be valid Unicode, and has other bytes"
        raise Failure(message, Exit.USAGE) from error
    except (exc.ArgumentError, ValueError) as error:
        raise Failure(_unreadable(url.strip()), Exit.USAGE) from error
    try:
        database = dialect_named(parsed.get_backend_name()).name
    except InvalidTaskError as error:
        raise Failure(_unknown(parsed.get_backend_name()) or str(error), Exit.USAGE) from error
    if database != "sqlite" and _spilt(parsed):
        raise Failure(_unreadable(url.strip()), Exit.USAGE)
    if database == "sqlite" and parsed.host:
        path = f"{parsed.host}/{parsed.database}" if parsed.database else parsed.host
        message = f"a file has three slashes before it; write sqlite:///{path}"
        raise Failure(message, Exit.USAGE)
    if database == "sqlite" and parsed.database in _MEMORY:
        message = "a database in memory ends with the command; name a file, for example sqlite:///topiq.db"
        raise Failure(message, Exit.USAGE)
    # An application's URL may name a driver that is not ours; which one speaks is no matter to the database.
    return parsed.set(drivername=database) if database in _OWN_DRIVER else parsed


def _spilt(url: URL) -> bool:
    """Tell whether a part of a password may have been taken for something else, which would be shown."""
    shown = [url.host or "", url.database or ""]
    if url.username is None:
        shown += [str(part) for item in url.query.items() for part in item]
    return any("@" in part for part in shown)


def _unknown(name: str) -> str | None:
    """Answer a name that is nearly a database's."""
    meant = _NEARLY.get(name.lower(), name.lower())
    try:
        return f"there is no repository for {name!r}; write {dialect_named(meant).name}://..."
    except InvalidTaskError:
        return None


def _unreadable(url: str) -> str:
    if "://" in url:
        return "the URL can't be read; in a password, write @ as %40, : as %3A and / as %2F"
    if Path(url).exists():
        return f"a URL is needed, not a path; write sqlite:///{url}"
    return "the URL can't be read; write for example sqlite:///topiq.db or postgresql://user@host/name"
