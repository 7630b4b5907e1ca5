"""
An export that fans out copies, writes a marker when all are done, and never runs twice at once for one branch.

Run it as it is, on SQLite, or with the URL of an empty database: ``python branch_export.py postgresql://...``.
"""

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, text

from task_api import FINISHED, Dependency, Insertion, Task, TaskCreation, TaskRef, TaskRepository, chord
from task_processor import TaskManager, Worker, each
from task_sql import create_engine, create_repository, schema

EXPORTS, COPIES = "exports", "copies"
FILES = {"Berlin": ["stock", "sales", "staff"], "Paris": ["stock", "sales"]}
SOON = timedelta(seconds=0.1)
MINUTE = timedelta(minutes=1)


def ask(tasks: TaskRepository[Connection], tx: Connection, branch: str) -> TaskRef:
    """Begin an export of a branch, unless one is under way; return the task that is done when it is."""
    # Whoever asks second for a branch waits here for the commit of the first, and finds its task.
    export = tasks.push(tx, EXPORTS, branch, insertion=Insertion.UNIQUE)
    found = tasks.task(tx, EXPORTS, export.sequence)
    if found is not None and found.state in FINISHED:
        export = tasks.push(tx, EXPORTS, branch, insertion=Insertion.REPLACE)
    ref = TaskRef(EXPORTS, export.sequence)
    if tasks.predecessors(tx, ref):
        print(f"{branch}: under way")
        return ref
    print(f"{branch}: begun")
    run = str(ref.sequence)
    copies = [TaskCreation(f"{branch}/{name}", reference=run) for name in FILES[branch]]
    *_, marker = tasks.push_graph(tx, COPIES, chord(copies, TaskCreation(f"{branch}/DONE", reference=run)))
    tasks.depend(tx, [Dependency(ref, TaskRef(COPIES, marker.sequence))])
    return ref


def copy(task: Task, tx: Connection) -> None:
    """Write a file, or the marker: here, a row."""
    tx.execute(text("INSERT INTO file (name) VALUES (:name)"), {"name": task.identifier})


def close(task: Task, tx: Connection) -> str:
    """Say what there is; the branch may be exported again."""
    names = tx.execute(
        text("SELECT name FROM file WHERE name LIKE :branch ORDER BY number"), {"branch": f"{task.identifier}/%"}
    )
    return f"{len(FILES[task.identifier])} copies, then {list(names.scalars())[-1]}"


def main(url: str) -> None:
    """Export two branches, one of them twice."""
    engine = create_engine(url)
    tasks = create_repository(engine)
    number = "INTEGER PRIMARY KEY" if engine.dialect.name == "sqlite" else "SERIAL"
    with engine.begin() as tx:
        schema.install(tx)
        tx.execute(text(f"CREATE TABLE file (number {number}, name VARCHAR(50))"))
        for topic in (EXPORTS, COPIES):
            tasks.initialize(tx, topic)

    exports = []
    for branch in ("Berlin", "Paris", "Berlin"):
        with engine.begin() as tx:
            exports.append(ask(tasks, tx, branch))

    managers = [
        TaskManager(EXPORTS, tasks, engine.begin, each(close), pause=SOON),
        TaskManager(COPIES, tasks, engine.begin, each(copy), pause=SOON),
    ]
    with Worker(tasks, engine.begin, managers):
        for export in dict.fromkeys(exports):
            done = tasks.wait(engine.begin, export, MINUTE)
            print(f"{done.identifier}: {done.state.name}, {done.output}")
        with engine.begin() as tx:
            again = ask(tasks, tx, "Berlin")
        print(f"Berlin: {tasks.wait(engine.begin, again, MINUTE).state.name}")

    with engine.begin() as tx:
        print(tx.execute(text("SELECT count(*) FROM file")).scalar_one(), "files")
    engine.dispose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder) / 'export.db'}")
