"""The program of a detached process: what it is to do comes through its standard input."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import task_sql
from task_processor.detached.child import run_errand
from task_processor.detached.errand import Errand
from task_processor.detached.exit import DetachedExit
from task_processor.detached.folder import detached_owner

from .database import Database
from .errors import Failure
from .logs import set_up_logs
from .urls import parsed_url

if TYPE_CHECKING:
    from sqlalchemy import URL

__all__ = ["main"]

_LOGGER = logging.getLogger("topiq")


def main() -> int:
    """Run one task, and return the exit code."""
    errand = Errand.load(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    for file in (errand.lock, errand.answer):
        # No program that the work calls is to have them.
        os.set_inheritable(file, False)  # noqa: FBT003 - it has no name
    sys.path[:] = dict.fromkeys([*errand.paths, *sys.path])
    try:
        url = parsed_url(errand.url)
        set_up_logs("info", url, as_json=False)
        return _run(errand, url)
    except Failure as failure:
        _LOGGER.error("%s", failure.format_message())  # noqa: TRY400 - it says all
        return DetachedExit.UNREACHABLE


def _run(errand: Errand, url: URL) -> int:
    engine = Database(url).engine
    try:
        repository = task_sql.create_repository(engine, owner=detached_owner(errand.logs))
        return run_errand(errand, repository, engine.begin)
    finally:
        engine.dispose()


if __name__ == "__main__":
    sys.exit(main())
