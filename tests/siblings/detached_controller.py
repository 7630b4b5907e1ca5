"""A worker in a process of its own that starts detached processes; it ends with its standard input."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import timedelta

import task_sql
from task_processor import TaskManager, Worker
from task_processor.detached.factory import DetachedTaskHandlerFactory


def main(text: str) -> None:
    """Work until a signal says otherwise."""
    given = json.loads(text)
    function = given.pop("function")
    engine = task_sql.create_engine(given["url"])
    repository = task_sql.create_repository(engine)
    factory = DetachedTaskHandlerFactory(function, **given)
    manager = TaskManager("topic", repository, engine.begin, factory, pause=timedelta(milliseconds=50))
    threading.Thread(target=_hear, daemon=True).start()
    Worker(repository, engine.begin, [manager], heartbeat=timedelta(milliseconds=100)).run()
    engine.dispose()


def _hear() -> None:
    sys.stdin.read()
    os._exit(99)
