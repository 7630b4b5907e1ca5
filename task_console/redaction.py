"""Secrets in URLs are never shown, neither in what we print nor in what a driver says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL

__all__ = ["one_line", "redacted", "scrubbed"]

_SECRET = re.compile(r"pass|secret|token|credential|private|key", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^\s/@]*:[^\s@]*(?=@)")
_HIDDEN = "***"


def redacted(url: URL) -> str:
    """Return the URL without its password and whatever else in it looks like one."""
    query = {name: _HIDDEN if _SECRET.search(name) else value for name, value in url.query.items()}
    shown = url.set(query=query).render_as_string(hide_password=True)
    return shown.replace(quote(_HIDDEN, safe=""), _HIDDEN)


def scrubbed(text: str, url: URL | None) -> str:
    """Return the text without the URL's secrets, in whatever spelling they are in it."""
    if url is not None:
        for secret in sorted(_spellings(url), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
    return _USERINFO.sub(_HIDDEN, text)


def one_line(text: str) -> str:
    """Return the text as one line."""
    return " ".join(text.split())


def _spellings(url: URL) -> set[str]:
    return {
        spelling
        for secret in _secrets(url)
        for spelling in (secret, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1])
        if spelling
    }


def _secrets(url: URL) -> Iterator[str]:
    if url.password:
        yield str(url.password)
    for name, value in url.query.items():
        if _SECRET.search(name):
            yield from (value,) if isinstance(value, str) else value
