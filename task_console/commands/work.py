"""``topiq work``: a worker of the user's, run until it is told to stop."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from task_console.database import Database, answering
from task_console.loading import load, made
from task_console.logs import LEVELS, set_up_logs
from task_console.options import DURATION, json_option, url_option
from task_console.urls import parsed_url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from sqlalchemy import Engine

    from task_processor import TopicStatistics, Worker

__all__ = ["work"]

_LOGGER = logging.getLogger("topiq")


@click.command()
@click.argument("target", metavar="MODULE:WORKER")
@click.option(
    "--log-level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    show_default=True,
    help="What to log.",
)
@click.option(
    "--report",
    type=DURATION,
    default="1m",
    show_default=True,
    help="How often to log what was done since, if anything was.",
)
@url_option
@json_option
def work(target: str, log_level: str, report: timedelta, url: str | None, *, as_json: bool) -> None:
    """
    Run a worker until SIGTERM or SIGINT (Ctrl-C).

    MODULE is found from the present folder on. WORKER is a task_processor.Worker, or a function that makes one; it
    may take the engine of the database, from --url or TOPIQ_URL, as its one argument. Without ":WORKER" it is
    called "worker".

    The signal ends polling. Work under way may end within the worker's grace, the rest is given back, and the exit
    code is 0. A second signal gives back at once.

    The log goes to the standard error; with --json each line of it is an object.
    """
    parsed = parsed_url(url) if url else None
    if url:
        os.environ["TOPIQ_URL"] = url  # for a module that asks for it
    set_up_logs(log_level, parsed, as_json=as_json)
    found = load(target, parsed)
    with ExitStack() as stack:
        stack.enter_context(answering(parsed))

        def engine() -> Engine:
            return stack.enter_context(Database.opened(url)).engine

        worker = made(target, found, engine, parsed)
        ended = threading.Event()
        stack.callback(ended.set)
        threading.Thread(target=_report, args=(worker, report, ended), name="topiq-report", daemon=True).start()
        worker.run()


def _report(worker: Worker[Any], interval: timedelta, ended: threading.Event) -> None:
    """Log now and then what each topic has come to, if anything has happened."""
    before: Mapping[str, TopicStatistics] = worker.health.topics
    while not ended.wait(interval.total_seconds()):
        topics = worker.health.topics
        for topic, now in topics.items():
            then = before[topic]
            if done := now.completed - then.completed:
                _LOGGER.info(
                    "topic %s: %d decided, of which %d failed and %d will be retried; %d under way",
                    topic,
                    done,
                    now.failed - then.failed,
                    now.retried - then.retried,
                    now.tasks,
                )
        before = topics
