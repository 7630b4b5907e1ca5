"""What each process runs."""

from __future__ import annotations

import logging

from tests.fire import producer, sabotage, worker
from tests.fire.faults import inside
from tests.fire.plan import Plan

_PROGRAMS = {"worker": worker.main, "producer": producer.main}


def main(arguments: list[str]) -> None:
    """Run the program of a kind of process."""
    kind, text, number, name, url = arguments
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s")
    plan = Plan.load(text)
    if plan.sabotage:
        sabotage.apply(plan.sabotage, kind)
    inside.obey()
    _PROGRAMS[kind](plan, int(number), name, url)
