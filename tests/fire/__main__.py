"""A run of any length from the command line."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fire import report
from tests.fire.conductor import Conductor
from tests.fire.faults import FAULTS
from tests.fire.plan import Plan
from tests.fire.stage import stage


def main(arguments: list[str]) -> int:
    """Run, print the figures, and give 1 if a rule was broken."""
    parser = argparse.ArgumentParser("python -m tests.fire", description=__doc__)
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--tasks", type=int, default=20_000, help="how many tasks to push")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--producers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", help="kinds, with commas between them; all of the database, or none")
    parser.add_argument("--every", type=float, nargs=2, default=(2.0, 5.0), help="seconds between two faults")
    parser.add_argument(
        "--batch", type=int, nargs=2, default=(100, 500), help="tasks that are pushed or polled at once"
    )
    parser.add_argument("--calm", type=int, default=0, help="how often each fault strikes once more, alone, in the end")
    parser.add_argument("--rate", type=float, default=0.0, help="tasks a second that come then; as many as can be done")
    parser.add_argument("--backlog", type=int, default=20_000, help="undecided tasks before producers wait")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds to decide all once nothing is pushed")
    parser.add_argument("--pgbouncer", type=Path, help="the program to put before the server, in transaction mode")
    parser.add_argument("--sabotage", help="what to break on purpose")
    parser.add_argument("--folder", type=Path, help="where to leave logs and evidence")
    parser.add_argument("--report", type=Path, help="a file for the figures, as JSON")
    parser.add_argument("--page", type=Path, help="a page to put the figures into, between its marks")
    options = parser.parse_args(arguments)
    every = sorted(name for name, fault in FAULTS.items() if options.database in fault.databases)
    faults = (
        every if options.faults is None else [name for name in options.faults.split(",") if name not in ("", "none")]
    )
    if unknown := set(faults) - set(every):
        parser.error(f"{options.database} has no such faults: {sorted(unknown)}; there are {every}")
    plan = Plan(
        seed=options.seed,
        database=options.database,
        tasks=options.tasks,
        workers=options.workers,
        producers=options.producers,
        faults=tuple(faults),
        every=(options.every[0], options.every[1]),
        calm=options.calm,
        rate=options.rate,
        batch=(options.batch[0], options.batch[1]),
        backlog=options.backlog,
        patience=options.patience,
        pooled=options.pgbouncer is not None,
        sabotage=options.sabotage,
    )
    folder = options.folder or Path(tempfile.mkdtemp(prefix="topiq-fire-"))
    folder.mkdir(parents=True, exist_ok=True)
    with stage(plan, folder, options.pgbouncer) as built:
        outcome = Conductor(plan, built, folder).run()
    found = report.figures(outcome, _command(parser, options))
    print(report.text(found))  # noqa: T201 - that is what it is for
    print(f"logs and evidence: {folder}")  # noqa: T201 - as above
    if options.report:
        options.report.write_text(report.dump(found), encoding="utf-8")
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(report.fill(page, found), encoding="utf-8")
    return 1 if outcome.complaints else 0


def _command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    """What repeats a run, wherever its files are."""
    words = ["python -m tests.fire"]
    for name, value in vars(options).items():
        if name not in ("folder", "report", "page") and value != parser.get_default(name):
            values = value if isinstance(value, list | tuple) else [value]
            words += [f"--{name}", *(part.name if isinstance(part, Path) else f"{part}" for part in values)]
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
