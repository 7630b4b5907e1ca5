"""Claims that end unless they are extended while the work goes on."""

from datetime import timedelta
from typing import Final, Generic, TypeVar

from .repeater import Job, Repeater
from .work import Work

__all__ = ["LeaseKeeper"]

T = TypeVar("T")

_PATIENCE: Final = timedelta(seconds=1)


class LeaseKeeper(Generic[T]):
    """Extends the claims of all batches under way, from a thread of its own, long before they end."""

    def __init__(self, work: Work[T], lease: timedelta) -> None:
        self._work = work
        self._lease = lease
        job = Job(f"extending the leases of topic {work.topic!r}", lease / 3, self._extend, first=lease / 3)
        self._repeater = Repeater(f"task-lease-{work.topic}", [job])

    def start(self) -> None:
        """Begin."""
        self._repeater.start()

    def stop(self) -> None:
        """End; not waited for much longer, as it may wait for the database."""
        self._repeater.stop(_PATIENCE)

    def _extend(self) -> None:
        problem: BaseException | None = None
        for batch in self._work.under_way():
            try:
                batch.extend(self._lease)
            except BaseException as error:  # noqa: BLE001 - one batch must not cost the others their leases
                problem = error
        if problem is not None:
            self._work.reporter.fatal(problem)
            raise problem
