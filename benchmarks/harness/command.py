"""The command line."""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from .agents import Agents
from .catalogue import SYSTEMS, Database, System
from .machine import about
from .measuring import Measuring
from .page import insert
from .report import report
from .results import Results
from .scale import FULL, QUICK, Scale
from .server import EmbeddedServer, Server
from .subject import Place
from .venvs import Venvs
from .workloads import WORKLOADS, Workload

__all__ = ["main"]

_SETTINGS: Final = (
    "how many tasks a workload has, such as latency=100; memory=1000000 watches a worker's memory over so many"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the report, and say where it was written."""
    options = _parser().parse_args(arguments)
    if options.list:
        _list()
        return 0
    if options.report:
        results = Results.load(options.report[0])
        for path in options.report[1:]:
            results.join(Results.load(path))
        text = report(results)
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server is stopped on the way out
        results, path = _run(options)
        text = report(results)
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        text += f"\nwritten to {path} and {path.with_suffix('.md')}"
    print(text)
    if options.page:
        insert(options.page, report(results))
    return 1 if options.quick and results.failures else 0


def _run(options: argparse.Namespace) -> tuple[Results, Path]:
    scale = _scale(options)
    systems = _chosen_systems(options)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    output: Path = options.output or folder / "results"
    output.mkdir(parents=True, exist_ok=True)
    path = output / time.strftime("%Y%m%d-%H%M%S.json")
    with ExitStack() as stack:
        # Of an earlier run that was cut short.
        shutil.rmtree(folder / "sqlite", ignore_errors=True)
        server = None
        if any(system.database is Database.POSTGRESQL for system in systems):
            server = Server(options.postgresql) if options.postgresql else EmbeddedServer(folder / "postgresql")
            stack.callback(server.stop)
        agents = Agents(folder)
        stack.callback(agents.close)
        results = Results(scale, about(server))
        place = Place(server, folder, agents, Venvs(folder / "venvs"), scale)
        measuring = Measuring(
            place,
            results,
            save=lambda: results.save(path),
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
        repeats = 1 if options.quick else options.repeats
        measuring.run(systems, _chosen_workloads(options), repeats, _names(options.once))
    shutil.rmtree(folder / "sqlite", ignore_errors=True)
    return results, path


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else FULL
    changes: dict[str, Any] = dict(options.set)
    if options.limit:
        changes["limit"] = options.limit
    if options.history:
        changes["history"] = tuple(options.history)
    return replace(scale, **changes)


def _setting(text: str) -> tuple[str, int]:
    """Read ``name=number``, where the name is one of those in `Scale` that stand for a number of tasks."""
    name, _, value = text.partition("=")
    known = [field.name for field in fields(Scale) if isinstance(getattr(FULL, field.name), int | None)]
    if name not in known or not value.isdecimal():
        message = f"{text!r} is not NAME=NUMBER with one of {', '.join(known)}"
        raise argparse.ArgumentTypeError(message)
    return name, int(value)


def _chosen_systems(options: argparse.Namespace) -> list[System]:
    names = _listed(options.systems, {system.name for system in SYSTEMS}, "system")
    databases = _listed(options.databases, {database.value for database in Database}, "database")
    found = [
        system
        for system in SYSTEMS
        if (not names or system.name in names) and (not databases or system.database.value in databases)
    ]
    if options.quick and not names:
        found = [system for system in found if system.brief]
    return found


def _chosen_workloads(options: argparse.Namespace) -> list[Workload]:
    names = _names(options.workloads)
    return [workload for workload in WORKLOADS if not names or workload.name in names]


def _names(workloads: str | None) -> set[str]:
    return _listed(workloads, {workload.name for workload in WORKLOADS}, "workload")


def _listed(text: str | None, known: set[str], kind: str) -> set[str]:
    names = {name.strip() for name in (text or "").split(",") if name.strip()}
    if unknown := sorted(names - known):
        message = f"no such {kind}: {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        raise SystemExit(message)
    return names


def _list() -> None:
    for system in SYSTEMS:
        print(f"{system.database.value:<10} {system.name:<18} {system.note}")
    print("\nworkloads:", ", ".join(workload.name for workload in WORKLOADS))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run.py", description="Measure topiq beside hand-written SQL and other queues."
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="small numbers, once, without peers: only to see that all of it runs")
    add("--systems", metavar="NAMES", help="only these, separated by commas; raw is what the others are divided by")
    add("--workloads", metavar="NAMES", help="only these, separated by commas")
    add("--databases", metavar="NAMES", help="PostgreSQL or SQLite only")
    add("--repeats", type=int, default=3, metavar="N", help="how often everything is measured (3)")
    add("--once", metavar="NAMES", help="workloads that are measured in the first repeat only")
    add("--limit", type=float, metavar="SECONDS", help="how long a single measurement takes at most (30)")
    add("--history", type=int, action="append", metavar="N", help="finished tasks stored; again for more (1000000)")
    add("--set", type=_setting, action="append", default=[], metavar="NAME=NUMBER", help=_SETTINGS)
    add("--postgresql", metavar="URL", help="use this server, as a superuser, instead of a new one")
    default = Path(tempfile.gettempdir()) / "topiq-benchmarks"
    add("--folder", type=Path, default=default, help=f"environments, logs, database files ({default})")
    add("--output", type=Path, help="where the results go (a folder in that one)")
    add("--report", type=Path, nargs="+", metavar="JSON", help="print the report of runs again, several as if one")
    add("--page", type=Path, metavar="FILE", help="put the report into this page of the documentation")
    add("--list", action="store_true", help="say what takes part")
    return parser
