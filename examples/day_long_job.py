"""
A job of a day, which two deploys do not interrupt: it runs in a process that outlives the worker.

Run it as it is, on SQLite, or with the URL of an empty database: ``python day_long_job.py postgresql://...``.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection

from task_api import Task, TaskInfo
from task_processor import Checkpoint, DetachedFolder, DetachedTaskHandlerFactory, TaskManager, Worker
from task_sql import create_engine, create_repository, schema

TOPIC = "reports"
DAY = 24


def report(task: Task, checkpoint: Checkpoint[Connection]) -> str:
    """Work for a day, of which each hour takes a moment here; what is done is stored after every hour."""
    hour = int(task.input or 0)
    while hour < DAY:
        checkpoint.stopping(timedelta(milliseconds=100))  # an hour's work
        hour += 1
        checkpoint(str(hour))
    return f"{hour} hours of work"


def work(url: str, logs: str) -> None:
    """Run one version of the worker, as a service manager would, until SIGTERM."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    factory = DetachedTaskHandlerFactory("day_long_job:report", url=url, logs=logs, limit=2)
    Worker(tasks, engine.begin, [TaskManager(TOPIC, tasks, engine.begin, factory)]).run()
    engine.dispose()


def until(condition: Callable[[], bool]) -> None:
    """Look now and then, for a minute at most."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def main(url: str, logs: str) -> None:
    """Deploy twice while the job runs."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, TOPIC)
        task = tasks.push(tx, TOPIC, "the year")

    def look() -> TaskInfo:
        with engine.begin() as tx:
            found = tasks.task(tx, TOPIC, task.sequence)
        assert found is not None  # noqa: S101 - pushed above
        return found

    def workers() -> int:
        with engine.begin() as tx:
            return len(tasks.owners(tx, timedelta(minutes=1)))

    for version, hour in ((1, 1), (2, 8), (3, DAY)):
        before = workers()
        worker = subprocess.Popen([sys.executable, __file__, "work", url, logs])  # noqa: S603 - this file
        until(lambda: workers() > before)  # noqa: B023 - called at once
        until(lambda: int(look().input or 0) >= hour)  # noqa: B023 - called at once
        worker.send_signal(signal.SIGTERM)
        print(f"worker {version} ended with {worker.wait()} after hour {hour}")
    until(lambda: not DetachedFolder(logs).count())
    done = look()
    print(f"{done.state.name} at attempt {done.attempt}: {done.output}")
    engine.dispose()


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(sys.argv[1] if sys.argv[1:] else f"sqlite:///{Path(folder) / 'reports.db'}", folder)
