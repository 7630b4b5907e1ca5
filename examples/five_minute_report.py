"""
A report for every five minutes of a week: workers crash, a slot fails, data comes late, and each report is right.

Run it as it is, on SQLite, or with the URL of an empty database: ``python five_minute_report.py postgresql://...``.
"""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import Claim
from task_processor import TimeSlot, TimeSlots
from task_sql import create_engine, create_repository, schema

TOPIC = "reports"
FIVE_MINUTES = timedelta(minutes=5)
MONDAY = datetime(2026, 11, 9, tzinfo=UTC)
SUNDAY_NIGHT = MONDAY + timedelta(days=7)
GAP = datetime(2026, 11, 12, 3, 15, tzinfo=UTC)


def report(tx: Connection, slot: TimeSlot) -> str:
    """Sum up the readings of a slot; the text becomes its message."""
    bounds = {"start": slot.start.isoformat(), "end": slot.end.isoformat()}
    query = "SELECT sum(amount) FROM reading WHERE moment >= :start AND moment < :end"
    total = tx.execute(text(query), bounds).scalar_one()
    if total is None and slot.failures == 0:
        message = "no readings, the meter may be slow"
        raise ValueError(message)
    tx.execute(text("DELETE FROM report WHERE moment = :start"), bounds)
    tx.execute(text("INSERT INTO report VALUES (:start, :total)"), {**bounds, "total": total or 0})
    return f"total {total or 0}"


def work(url: str, lifetime: int) -> None:
    """Report on slots, the oldest first, an hour's worth in each transaction; die after so many of them."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    slots = TimeSlots(tasks, TOPIC, FIVE_MINUTES)
    with engine.begin() as tx:
        tasks.register(tx)
    more = True
    while more:
        with engine.begin() as tx:
            for _ in range(12):
                slot = slots.acquire(tx, claim=Claim.TRANSACTION)
                if slot is None:
                    more = False
                    break
                slots.process(tx, slot, report)
                lifetime -= 1
                if not lifetime:
                    os._exit(1)  # in the middle of a transaction, which is as if it had never been
    engine.dispose()


def take_and_die(url: str) -> None:
    """Take a slot with a claim that is committed, and die before it is decided."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    with engine.begin() as tx:
        tasks.register(tx)
        TimeSlots(tasks, TOPIC, FIVE_MINUTES).acquire(tx, lease=timedelta())
    os._exit(1)


def run(target: Callable[..., None], *arguments: object) -> None:
    """Run a worker in a process of its own, to its end."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    process.start()
    process.join()


def main(url: str) -> None:
    """Cover a week."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    slots = TimeSlots(tasks, TOPIC, FIVE_MINUTES)
    moments = (MONDAY + number * timedelta(minutes=1) for number in range(7 * 24 * 60))
    readings = [{"moment": moment.isoformat(), "amount": 1} for moment in moments]
    with engine.begin() as tx:
        schema.install(tx)
        tasks.initialize(tx, TOPIC)
        tx.execute(text("CREATE TABLE reading (moment VARCHAR(40) PRIMARY KEY, amount INTEGER)"))
        tx.execute(text("CREATE TABLE report (moment VARCHAR(40) PRIMARY KEY, total INTEGER)"))
        tx.execute(text("INSERT INTO reading VALUES (:moment, :amount)"), readings)
        gap = {"start": GAP.isoformat(), "end": (GAP + FIVE_MINUTES).isoformat()}
        tx.execute(text("DELETE FROM reading WHERE moment >= :start AND moment < :end"), gap)
        created = slots.cover(tx, MONDAY, SUNDAY_NIGHT)
    print(f"{len(created)} slots to do")

    def show(event: str) -> None:
        with engine.begin() as tx:
            now = slots.coverage(tx, MONDAY, SUNDAY_NIGHT)
            reports = tx.execute(text("SELECT count(*) FROM report")).scalar_one()
        print(f"{event}: {len(now.done)} done, {len(now.held)} held, {len(now.open)} open, {reports} reports")

    run(work, url, 500)
    show("a worker died")
    run(take_and_die, url)
    show("another one died with a slot")
    with engine.begin() as tx:  # its lease has ended
        slots.recover(tx, timeout=timedelta(minutes=1))
    run(work, url, -1)
    show("the third one did the rest")
    with engine.begin() as tx:
        [slot] = slots.coverage(tx, GAP, GAP + FIVE_MINUTES).done
    print(f"{slot.start:%A %H:%M}: {slot.message}, {slot.failures} failure")

    with engine.begin() as tx:  # whoever acquires the slot sees the data
        late = [{"moment": (GAP + number * timedelta(minutes=1)).isoformat(), "amount": 10} for number in range(5)]
        tx.execute(text("INSERT INTO reading VALUES (:moment, :amount)"), late)
        slots.reopen(tx, GAP)
    show("data came late")
    run(work, url, -1)
    with engine.begin() as tx:
        week = slots.coverage(tx, MONDAY, SUNDAY_NIGHT)
        [slot] = slots.coverage(tx, GAP, GAP + FIVE_MINUTES).done
        total = tx.execute(text("SELECT sum(total) FROM report")).scalar_one()
    print(f"{slot.start:%A %H:%M}: {slot.message}")
    print(f"covered: {week.covered}, {len(week.missing)} missing, a total of {total}")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'reports.db'}")
