"""Logs of a worker: a line for each event, as text or as JSON, without secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .redaction import scrubbed

if TYPE_CHECKING:
    from sqlalchemy import URL

__all__ = ["LEVELS", "set_up_logs"]

LEVELS = ("debug", "info", "warning", "error")
"""The levels that can be asked for."""


def set_up_logs(level: str, url: URL | None, *, as_json: bool) -> None:
    """Log everything from this level on to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter(url) if as_json else _TextFormatter(url))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)


class _TextFormatter(logging.Formatter):
    """A line that people read; a trace follows on lines of its own."""

    def __init__(self, url: URL | None) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
        self._url = url

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802, ARG002 - theirs
        return _time(record)

    def format(self, record: logging.LogRecord) -> str:
        return scrubbed(super().format(record), self._url)


class _JsonFormatter(logging.Formatter):
    """An object on a line: time, level, logger, message, and the trace if there is one."""

    def __init__(self, url: URL | None) -> None:
        super().__init__()
        self._url = url

    def format(self, record: logging.LogRecord) -> str:
        value = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": scrubbed(record.getMessage(), self._url),
        }
        if record.exc_info:
            value["trace"] = scrubbed(self.formatException(record.exc_info), self._url)
        return json.dumps(value, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
