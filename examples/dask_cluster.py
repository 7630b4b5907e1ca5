"""
Work on a cluster: the steps run on dask's machines, the tasks are polled and decided here.

Any executor of ``concurrent.futures`` will do in its place: threads, processes, or a cluster's. Needs the package
``distributed``; with the address of a scheduler instead of a cluster of its own it uses that one's machines.

Run it as it is, on SQLite, or with the URL of an empty database: ``python dask_cluster.py postgresql://...``.
"""

import logging
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from distributed import Client, LocalCluster

from task_api import Snapshot, Task, TaskDecision, TaskState
from task_processor import CompositeTaskHandlerFactory, TaskListener, TaskManager, Worker
from task_sql import create_engine, create_repository, schema

TOPIC = "numbers"
NUMBER = 40


def factorize(task: Task) -> str:
    """Find the smallest factor, wherever the cluster has room."""
    number = int(task.identifier)
    factor = next(divisor for divisor in range(2, number + 1) if number % divisor == 0)
    return "prime" if factor == number else f"{factor} x {number // factor}"


def check(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
    """Leave even numbers out: their answers are no news."""
    return {task: TaskDecision.SUCCESS if int(task.identifier) % 2 else TaskDecision.FILTER for task in tasks}


class Countdown(TaskListener):
    """Tells when so many tasks are decided."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.lock = threading.Lock()
        self.done = threading.Event()

    def on_complete(self, topic: str, trace: object, decisions: Mapping[Task, TaskDecision]) -> None:  # noqa: ARG002
        """Count; batches are completed on several threads."""
        with self.lock:
            self.left -= len(decisions)
            if not self.left:
                self.done.set()


def main(url: str) -> None:
    """Factorize numbers, two batches at once."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, TOPIC)
        tasks.push_many(tx, TOPIC, [str(1001 + number) for number in range(NUMBER)])

    countdown = Countdown(NUMBER)
    # At its end a cluster may log that its connections were closed, which is no news.
    options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        # Not pure: a task that comes again is to be worked on again.
        executor = client.get_executor(pure=False)
        steps = (
            CompositeTaskHandlerFactory(executor=executor).batch("check", check).each("factorize", factorize, "check")
        )
        manager = TaskManager(TOPIC, tasks, engine.begin, steps, size=10, listener=countdown)
        with Worker(tasks, engine.begin, [manager]):
            countdown.done.wait(60)

    with engine.begin() as tx:
        counts = tasks.count(tx, Snapshot.TOTAL)[TOPIC]
        first = tasks.page(tx, TOPIC, size=1)[0]
    print(f"{counts[TaskState.SUCCEEDED].count} factorized, {counts[TaskState.FILTERED].count} left out")
    print(f"{first.identifier} = {first.output}")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'dask.db'}")
