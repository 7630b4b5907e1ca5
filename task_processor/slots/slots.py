"""
Slots of time, each to be done once: a report for every five minutes, whatever crashes, and again when data comes late.

A slot is a task whose identifier is its beginning. It is READY while it is open, also after a failure; what it counts
and remembers is in its input, which belongs to this module. How the topic is divided is kept in a task of its own,
which is SUSPENDED for ever and so neither polled nor purged.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Generic, Self, TypeVar

from task_api import (
    REVIVABLE,
    Claim,
    Insertion,
    InvalidTaskError,
    LostTaskError,
    Revivification,
    Task,
    TaskCreation,
    TaskDecision,
    TaskInfo,
    TaskRepository,
    TaskState,
    TaskStateError,
)

from ..savepoint import savepoint
from .grid import DEFINITION, EPOCH, HIGHEST, LOWEST, SlotGrid, identifier, parse_identifier
from .record import SlotRecord
from .slot import SlotCoverage, TimeSlot

__all__ = ["TimeSlots"]

T = TypeVar("T")

_GONE: Final = frozenset({TaskState.RECREATED, TaskState.REDUNDANT})
"""Tasks that stand for nothing any more."""
_FINAL: Final = {TaskState.SUCCEEDED: "done", TaskState.FILTERED: "skipped", TaskState.ACTIVE: "held"}
_REVIVED: Final = 500
"""How many are revived at once."""
_PURGED: Final = frozenset({TaskState.SUCCEEDED, TaskState.FILTERED}) | _GONE


class TimeSlots(Generic[T]):
    """
    The slots of a topic.

    Every call works in the caller's transaction, which comes first. Bounds are aware times, aligned down to the
    beginning of a slot; the end is not included. The topic must be initialized, and belongs to its slots alone.
    """

    def __init__(
        self, repository: TaskRepository[T], topic: str, interval: timedelta, origin: datetime = EPOCH
    ) -> None:
        """
        Divide time.

        Args:
            repository: Where the slots are kept, and who acquires them.
            topic: The topic that they are the tasks of.
            interval: How long a slot is; the same for all slots of a topic.
            origin: Where one of the slots begins; by default at the beginning of 1970, in UTC.

        """
        self.repository = repository
        self.topic = topic
        self._grid = SlotGrid.of(interval, origin)

    @classmethod
    def stored(cls, repository: TaskRepository[T], tx: T, topic: str) -> Self | None:
        """Return the slots of a topic, divided as they were when they were first created, or None if none were."""
        grid = _stored(repository, tx, topic)
        return None if grid is None else cls(repository, topic, grid.interval, grid.origin)

    @property
    def interval(self) -> timedelta:
        """How long a slot is."""
        return self._grid.interval

    @property
    def origin(self) -> datetime:
        """Where the first slot since 1970 begins."""
        return self._grid.origin

    def align(self, moment: datetime) -> datetime:
        """Return the beginning of the slot that a moment lies in."""
        return self._grid.align("moment", moment)

    def cover(self, tx: T, start: datetime, end: datetime) -> tuple[TimeSlot, ...]:
        """
        Create each slot that is missing, once, however many do so at the same time; return those really created.

        Raises:
            InvalidTaskError: the topic is divided in another way.
            UnknownTopicError: the topic is not initialized.

        """
        first, last = self._grid.window(start, end)
        self._define(tx)
        present = self._live(tx, first, last)
        missing = [slot for slot in self._grid.slots(first, last) if slot.start not in present]
        if not missing:
            return ()
        record = SlotRecord.fresh()
        creations = [
            TaskCreation(identifier(slot.start), record.text, reference=self.repository.owner) for slot in missing
        ]
        tasks = self.repository.push_many(tx, self.topic, creations, insertion=Insertion.UNIQUE)
        created = {task.sequence for task in tasks if task.input == record.text}
        fresh = self._live(tx, missing[0].start, last) if created else {}
        return tuple(self._known(start, info) for start, info in fresh.items() if info.sequence in created)

    def acquire(
        self,
        tx: T,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        claim: Claim = Claim.COMMITTED,
        lease: timedelta | None = None,
    ) -> TimeSlot | None:
        """
        Claim the oldest open slot, whenever it was created; None if there is none that nobody holds.

        Args:
            tx: The caller's transaction.
            start: Only from the slot on that this lies in.
            end: Only before the slot that this lies in.
            claim: How it is held: by a claim that others see once it is committed, or by this transaction alone.
            lease: The longest time that a committed claim lasts; without one only the owner's heartbeat counts.

        Raises:
            InvalidTaskError: the topic is divided in another way.
            UnknownOwnerError: the repository's owner is not registered.

        """
        if start is not None and end is not None:
            start, end = self._grid.window(start, end)
        low = LOWEST if start is None else identifier(self._grid.align("start", start))
        high = HIGHEST if end is None else identifier(self._grid.align("end", end))
        self._check(tx)
        task = self.repository.poll_between(tx, self.topic, low, high, lease=lease, claim=claim)
        if task is None:
            return None
        info = self.repository.task(tx, self.topic, task.sequence)
        begin = parse_identifier(task.identifier)
        if info is None or begin is None:
            message = f"{task} is no slot: topic {self.topic!r} must hold slots alone"
            raise InvalidTaskError(message)
        known = self._known(begin, info)
        if claim is Claim.TRANSACTION:  # which writes nothing until it is decided
            known = replace(known, acquired=None, holder=self.repository.owner)
        return replace(known, task=task)

    def complete(self, tx: T, slot: TimeSlot, message: str | None = None) -> None:
        """
        Decide that a held slot is done.

        Raises:
            LostTaskError: it is not held; nothing is changed.

        """
        self._finish(tx, slot, TaskDecision.success(message))

    def skip(self, tx: T, slot: TimeSlot, message: str | None = None) -> None:
        """Decide that a held slot is not to be done. See `complete`."""
        self._finish(tx, slot, TaskDecision.filter(message))

    def fail(self, tx: T, slot: TimeSlot, message: str | BaseException | None = None) -> None:
        """Open a held slot again, at once, with one more failure; the message, or an error's trace, is kept."""
        task = self._claimed(slot)
        # A suspension, so that the message stays while the slot is open, and due also if the clock is set back now.
        decision = TaskDecision.retry(EPOCH, message)
        record = SlotRecord.read(task.input).after_failure(decision.output)
        self.repository.checkpoint(tx, self.topic, task, record.text)
        self.repository.complete(tx, self.topic, task, decision)
        self.repository.promote(tx, self.topic)

    def process(self, tx: T, slot: TimeSlot, work: Callable[[T, TimeSlot], str | None]) -> bool:
        """
        Do the work of a held slot and decide it, all in this transaction; tell whether it succeeded.

        The text that the work returns is the message. Work that raises fails, and what it did in the transaction is
        undone.
        """
        try:
            with savepoint(tx):
                message = work(tx, slot)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is kept with the slot
            self.fail(tx, slot, error)
            return False
        self.complete(tx, slot, message)
        return True

    def reopen(self, tx: T, start: datetime, end: datetime | None = None) -> tuple[TimeSlot, ...]:
        """
        Open one slot again, or all from ``start`` on and before ``end``, because its data came late.

        Those that are done, skipped or expired become open; failures stay counted. Slots that are open or missing are
        left as they are. Nobody can acquire any of them until the transaction ends, so that whoever does sees what was
        written with it. Returns those that were opened.

        Raises:
            TaskStateError: somebody holds one of them, who may not have seen the late data; nothing is changed.

        """
        first = self._grid.align("start", start)
        last = first + self.interval if end is None else self._grid.window(start, end)[1]
        self._check(tx)
        found = self._live(tx, first, last, lock=True)
        if held := [info for info in found.values() if info.state is TaskState.ACTIVE]:
            raise TaskStateError(self.topic, held)
        closed = {begin: info for begin, info in found.items() if info.state in REVIVABLE}
        self.repository.recreate(tx, self.topic, Revivification.RESET, closed.values())
        return tuple(map(self._grid.slot, closed))

    def recover(self, tx: T, timeout: timedelta) -> int:
        """
        Open the slots again that dead holders left; return how many.

        Those whose lease has ended, or whose owner has not beaten for ``timeout``. Tasks of other topics of which that
        is true expire, too, and stay so.
        """
        self.repository.expire(tx, timeout)
        opened = 0
        while revived := self.repository.recreate_state(
            tx, self.topic, Revivification.RESET, TaskState.EXPIRED, size=_REVIVED
        ):
            opened += len(revived)
        return opened

    def coverage(self, tx: T, start: datetime, end: datetime) -> SlotCoverage:
        """Tell how a stretch of time is covered."""
        first, last = self._grid.window(start, end)
        self._check(tx)
        found = self._live(tx, first, last)
        slots: dict[str, list[TimeSlot]] = {}
        for slot in self._grid.slots(first, last):
            info = found.get(slot.start)
            if info is None:
                slots.setdefault("missing", []).append(slot)
            else:
                slots.setdefault(_collection(info), []).append(self._known(slot.start, info))
        return SlotCoverage(first, last, **{name: tuple(members) for name, members in slots.items()})

    def purge(self, tx: T, before: datetime) -> int:
        """
        Delete the slots that are done or skipped and end by a time; return how many tasks were deleted.

        They are missing from then on, and a `cover` of that time would create them again.
        """
        border = identifier(self._grid.align("before", before))
        self._check(tx)
        tasks = sorted(self.repository.between(tx, self.topic, LOWEST, HIGHEST))
        deleted = 0
        # One that is not finished yet ends a run, as it may be by the time that the run is deleted.
        for first, last in _runs((info.sequence, info.state in _PURGED and info.identifier < border) for info in tasks):
            deleted += self.repository.purge(tx, self.topic, states=_PURGED, first=first, last=last)
        return deleted

    def _define(self, tx: T) -> None:
        """Store how the topic is divided, unless it is."""
        if self._check(tx):
            return
        creation = TaskCreation(DEFINITION, self._grid.text, reference=self.repository.owner, suspended=True)
        task = self.repository.push(tx, self.topic, creation, insertion=Insertion.UNIQUE)
        self._require_same(SlotGrid.read(task.input))

    def _check(self, tx: T) -> bool:
        """See to it that the topic is not divided in another way; tell whether it is divided."""
        grid = _stored(self.repository, tx, self.topic)
        if grid is not None:
            self._require_same(grid)
        return grid is not None

    def _require_same(self, grid: SlotGrid) -> None:
        if grid != self._grid:
            message = (
                f"the slots of topic {self.topic!r} are those of {grid}, which slots of {self._grid} would overlap;"
                " use the same interval and origin, or another topic"
            )
            raise InvalidTaskError(message)

    def _live(self, tx: T, first: datetime, last: datetime, *, lock: bool = False) -> dict[datetime, TaskInfo]:
        """Return the tasks that stand for slots, by the beginnings of those, in their order."""
        tasks = self.repository.between(tx, self.topic, identifier(first), identifier(last), lock=lock)
        named = ((parse_identifier(info.identifier), info) for info in tasks if info.state not in _GONE)
        return {begin: info for begin, info in named if begin is not None and self._grid.aligned(begin)}

    def _known(self, begin: datetime, info: TaskInfo) -> TimeSlot:
        """Return a slot with what is known of it."""
        record = SlotRecord.read(info.input)
        return TimeSlot(
            begin,
            begin + self.interval,
            failures=record.failures,
            message=record.message if record.failed else info.output,
            holder=info.owner,
            creator=info.reference,
            created=info.created,
            acquired=info.polled,
            completed=info.completed,
            task=info,
        )

    def _finish(self, tx: T, slot: TimeSlot, decision: TaskDecision) -> None:
        task = self._claimed(slot)
        record = SlotRecord.read(task.input)
        if record.failed:
            self.repository.checkpoint(tx, self.topic, task, record.after_outcome().text)
        self.repository.complete(tx, self.topic, task, decision)

    def _claimed(self, slot: TimeSlot) -> Task:
        if not isinstance(slot, TimeSlot):
            message = f"a slot is what acquire returned, not {type(slot).__name__}"
            raise InvalidTaskError(message)
        if slot.task is None:
            raise LostTaskError(self.topic, [Task(0, identifier(slot.start))])
        return slot.task


def _stored(repository: TaskRepository[T], tx: T, topic: str) -> SlotGrid | None:
    """Return how a topic is divided, if it is."""
    tasks = repository.between(tx, topic, DEFINITION, f"{DEFINITION}\x01")
    live = [task for task in tasks if task.state not in _GONE]
    return SlotGrid.read(live[-1].input) if live else None


def _collection(info: TaskInfo) -> str:
    """Return the name of the collection that a slot belongs to."""
    if name := _FINAL.get(info.state):
        return name
    return "failed" if info.state is TaskState.FAILED or SlotRecord.read(info.input).failed else "open"


def _runs(marked: Iterable[tuple[int, bool]]) -> Iterable[tuple[int, int]]:
    """Return the first and last number of each run of marked ones."""
    run: list[int] = []
    for number, mark in marked:
        if mark:
            run.append(number)
        elif run:
            yield run[0], run[-1]
            run = []
    if run:
        yield run[0], run[-1]
