"""What processes do to slots in races. Module level functions, so that another process can import them."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import text

from task_api import Claim, LostTaskError, TaskStateError
from task_processor.slots.slots import TimeSlots
from task_sql import create_engine, create_repository
from tests.siblings.slot_yard import lives

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection

    from task_processor.slots.slot import TimeSlot

    Begin: TypeAlias = Callable[[], AbstractContextManager[Connection]]

START = datetime(2026, 11, 9, tzinfo=UTC)
INTERVAL = timedelta(minutes=5)
TOPIC = "topic"
PATIENCE = timedelta(hours=1)
LEASE = timedelta(seconds=2)
DEADLY = 10
"""Whoever first comes to a certain point with one of so many slots dies there."""


def end_of(number: int) -> datetime:
    """Where so many slots end."""
    return START + number * INTERVAL


def cover(place: int, url: str, number: int) -> list[str]:
    """Cover pieces of the whole, in an order of one's own; return which slots were created here."""
    engine = create_engine(url)
    slots = TimeSlots(create_repository(engine), TOPIC, INTERVAL)
    chance = random.Random(place)  # noqa: S311 - no secret
    created: list[TimeSlot] = []
    for first in chance.sample(range(0, number, 25), number // 25):
        with engine.begin() as tx:
            created += slots.cover(tx, end_of(first), end_of(first + 40))
    engine.dispose()
    return [slot.start.isoformat() for slot in created]


def divide(place: int, url: str) -> str:
    """Cover with an interval of one's own; say which it was, or what the error said."""
    engine = create_engine(url)
    slots = TimeSlots(create_repository(engine), TOPIC, INTERVAL * (1 + place))
    try:
        with engine.begin() as tx:
            slots.cover(tx, START, START + timedelta(days=1))
    except ValueError as error:
        return str(error)
    finally:
        engine.dispose()
    return str(slots.interval)


def work(place: int, url: str, number: int, graves: Path) -> int:
    """Work slots off, dying again and again; return how often."""
    return lives(partial(_live, place, url, number, graves))


def _live(place: int, url: str, number: int, graves: Path, life: int) -> None:
    """Acquire, fail now and then, and complete until all is done; or until a slot is deadly."""
    chance = random.Random(f"{place} {life}")  # noqa: S311 - no secret
    engine = create_engine(url)
    repository = create_repository(engine)
    slots = TimeSlots(repository, TOPIC, INTERVAL)
    claim = list(Claim)[place % 2]
    with engine.begin() as tx:
        repository.register(tx)
    worked = 0
    while True:
        worked += 1
        lease = chance.choice([LEASE, LEASE, timedelta()])
        found = _worked(engine.begin, slots, claim, lease, graves, failing=chance.random() < 0.1)
        if found and worked % 4:
            continue
        with engine.begin() as tx:
            slots.recover(tx, PATIENCE)
            if not found and slots.coverage(tx, START, end_of(number)).covered:
                break
        time.sleep(0 if found else 0.05)
    engine.dispose()


def _die(slot: TimeSlot, graves: Path, point: str) -> None:
    """Die at the point that is chosen for a deadly slot, unless somebody did before."""
    place = (slot.start - START) // INTERVAL
    chance = random.Random(place)  # noqa: S311 - no secret
    if place % DEADLY or point != chance.choice(["acquired", "effect", "decided"]):
        return
    try:
        (graves / str(place)).touch(exist_ok=False)
    except FileExistsError:
        return
    if chance.random() < 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(17)


def _worked(
    begin: Begin,
    slots: TimeSlots[Connection],
    claim: Claim,
    lease: timedelta,
    graves: Path,
    *,
    failing: bool,
) -> bool:
    """Acquire a slot and decide it, unless that comes too late; tell whether there was one."""
    if claim is Claim.TRANSACTION:
        with begin() as tx:
            slot = slots.acquire(tx, claim=claim)
            if slot is not None:
                _decide(tx, slots, slot, graves, failing=failing)
        return slot is not None
    with begin() as tx:
        slot = slots.acquire(tx, lease=lease)
    if slot is None:
        return False
    if not lease:
        time.sleep(0.02)  # others may find that it has ended
    with suppress(LostTaskError), begin() as tx:
        _decide(tx, slots, slot, graves, failing=failing)
    return True


def _decide(tx: Connection, slots: TimeSlots[Connection], slot: TimeSlot, graves: Path, *, failing: bool) -> None:
    die = partial(_die, slot, graves)
    die("acquired")
    kind = "failure" if failing else "effect"
    tx.execute(text("INSERT INTO effect (slot, kind) VALUES (:slot, :kind)"), {"slot": str(slot.start), "kind": kind})
    die("effect")
    if failing:
        slots.fail(tx, slot, "by chance")
    else:
        slots.complete(tx, slot)
    die("decided")


def deliver(place: int, url: str, number: int) -> None:
    """Deliver data for any slot, late as it is, and open that again; or report on slots, until all data is in."""
    engine = create_engine(url)
    repository = create_repository(engine)
    slots = TimeSlots(repository, TOPIC, INTERVAL)
    with engine.begin() as tx:
        repository.register(tx)
    if place % 2:
        _report(engine.begin, slots, number, list(Claim)[place // 2 % 2])
    else:
        chance = random.Random(place)  # noqa: S311 - no secret
        for _ in range(40):
            _deliver(engine.begin, slots, end_of(chance.randrange(number)))
        with engine.begin() as tx:
            tx.execute(text("INSERT INTO effect (slot, kind) VALUES ('', 'end')"))
    engine.dispose()


def _deliver(begin: Begin, slots: TimeSlots[Connection], start: datetime) -> None:
    while True:
        try:
            with begin() as tx:
                tx.execute(text("INSERT INTO effect (slot, kind) VALUES (:slot, 'data')"), {"slot": str(start)})
                slots.reopen(tx, start)
        except TaskStateError:  # somebody reports on it just now
            continue
        return


def _report(begin: Begin, slots: TimeSlots[Connection], number: int, claim: Claim) -> None:
    """Complete slots, each with how much data it has, until no more is to come."""
    while True:
        with begin() as tx:
            slot = slots.acquire(tx, claim=claim)
            if slot is not None:
                query = "SELECT count(*) FROM effect WHERE slot = :slot AND kind = 'data'"
                count = tx.execute(text(query), {"slot": str(slot.start)}).scalar_one()
                slots.complete(tx, slot, str(count))
                continue
            ended = tx.execute(text("SELECT count(*) FROM effect WHERE kind = 'end'")).scalar_one()
            if ended == 4 and slots.coverage(tx, START, end_of(number)).covered:
                return
