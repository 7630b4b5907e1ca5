"""What a database knows about the schema, and scripts run on it."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from task_sql.schema.scripts import statements
from tests.backends import Backend

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import sys
import task_sql
sys.path.append(sys.argv[3])
from tests.oracle import double
double.register()
engine = task_sql.create_engine(sys.argv[1])
for _ in range(3):
    with engine.begin() as connection:
        getattr(task_sql.schema, sys.argv[2])(connection)
with engine.begin() as connection:
    print(task_sql.schema.version(connection))
"""
CATALOGUE = {
    "sqlite": "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
    "postgresql": """
        SELECT relkind::text, relname::text, coalesce(pg_get_indexdef(c.oid), pg_get_viewdef(c.oid))
        FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind <> 'v' AND relkind <> 'r'
        UNION ALL
        SELECT 'view', viewname::text, definition FROM pg_views WHERE schemaname = 'public'
        UNION ALL
        SELECT 'function', proname::text, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'column', table_name || '.' || column_name,
            concat_ws(' ', data_type, character_maximum_length, is_nullable, column_default, collation_name)
        FROM information_schema.columns WHERE table_schema = 'public'
        ORDER BY 1, 2
    """,
    "oracle": """
        SELECT object_type, LOWER(object_name), object_type FROM user_objects
        UNION ALL
        SELECT 'COLUMN', LOWER(table_name || '.' || column_name), data_type FROM user_tab_columns
        ORDER BY 1, 2
    """,
}


def catalogue(backend: Backend) -> list[tuple[Any, ...]]:
    """Everything that the database knows about the schema."""
    return backend.sql(CATALOGUE[backend.name])


def execute(backend: Backend, script: str) -> None:
    """Run a script as a DBA would."""
    with closing(backend.connect()) as connection:
        if isinstance(connection, sqlite3.Connection):
            connection.executescript(script)
        elif backend.name == "oracle":
            for statement in statements(script):  # as SQL*Plus would
                with connection.cursor() as cursor:
                    cursor.execute(statement)
        else:
            assert isinstance(connection, psycopg.Connection)
            connection.execute(script.encode())
        connection.commit()


def at_once(backend: Backend, call: str, number: int = 4) -> list[str]:
    """What several processes say that make the same call on the schema at the same time."""
    command = [sys.executable, "-c", PROGRAM, backend.url, call, str(ROOT)]
    processes = [
        subprocess.Popen(  # noqa: S603 - ours
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(number)
    ]
    return [process.communicate(timeout=60)[0].strip() for process in processes]
