"""Claims that end unless they are extended while the work goes on."""

import sys
import time
from concurrent.futures import Future, wait
from datetime import timedelta
from typing import Final, Generic, TypeVar

from .extension import SHARE
from .repeater import Job, Repeater
from .threads import DaemonExecutor
from .work import Batch, Work

__all__ = ["LeaseKeeper"]

T = TypeVar("T")

_PATIENCE: Final = timedelta(seconds=1)


class LeaseKeeper(Generic[T]):
    """
    Extends the claims of all batches under way, from threads of its own, long before they end.

    It goes on to the next batch when one has to wait for whoever has its tasks locked, so that this costs the others
    nothing. What is locked can't expire.
    """

    def __init__(self, work: Work[T], lease: timedelta) -> None:
        self._work = work
        self._lease = lease
        interval = lease / SHARE
        job = Job(f"extending the leases of topic {work.topic!r}", interval, self._extend, first=interval)
        self._repeater = Repeater(f"task-lease-{work.topic}", [job])
        # One thread, and one more for each batch that has to wait.
        self._threads = DaemonExecutor(f"task-extension-{work.topic}", sys.maxsize)
        self._under_way: dict[Batch, Future[None]] = {}
        self._problem: BaseException | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        self._repeater.start()

    def stop(self) -> None:
        """End; not waited for much longer, as it may wait for the database."""
        self._stopped = True
        self._repeater.stop(_PATIENCE)
        self._threads.shutdown(wait=False)

    def _extend(self) -> None:
        # Much shorter than the lease, whatever number of batches has to wait.
        end = time.monotonic() + self._lease.total_seconds() / 6
        under_way = {batch: call for batch, call in self._under_way.items() if not call.done()}
        for batch in self._work.under_way():
            if batch not in under_way and not self._stopped:
                under_way[batch] = call = self._threads.submit(self._try_to_extend, batch)
                wait([call], max(min(self._lease.total_seconds() / 30, end - time.monotonic()), 0))
        self._under_way = under_way
        if (problem := self._problem) is not None:
            self._problem = None
            self._work.reporter.fatal(problem)
            raise problem

    def _try_to_extend(self, batch: Batch) -> None:
        try:
            batch.extend(self._lease)
        except BaseException as error:  # noqa: BLE001 - reported by this round or the next, which tries again
            self._problem = error
