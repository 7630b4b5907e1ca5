"""The page on transactions shows Django on SQLite; on PostgreSQL the same code works."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import sqlalchemy

from tests.docs.fences import ROOT, fences

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends import Backend

_SETTINGS = """            "ENGINE": "django.db.backends.sqlite3",
            "NAME": "django.db",
            "OPTIONS": {"transaction_mode": "IMMEDIATE"},  # SQLite alone: wait for the other writer, don't fail
"""


@pytest.mark.backends("postgresql")
@pytest.mark.kinds("driver")
def test_the_example_works_on_postgresql(backend: Backend, tmp_path: Path) -> None:
    """Django's connection is psycopg's, whatever Django has registered on it."""
    page = (ROOT / "docs" / "transactions.md").read_text(encoding="utf-8")
    [source] = [fence.body for fence in fences(page) if fence.title == "with_django.py"]
    url = sqlalchemy.make_url(backend.dsn)
    host = url.query.get("host", url.host)
    parts = {"NAME": url.database, "USER": url.username, "PASSWORD": url.password, "HOST": host, "PORT": url.port}
    settings = "".join(f"            {name!r}: {value!r},\n" for name, value in parts.items() if value)
    assert _SETTINGS in source
    source = source.replace(_SETTINGS, f'            "ENGINE": "django.db.backends.postgresql",\n{settings}')
    source = source.replace("SqliteTaskRepository", "PostgresTaskRepository")
    # A transaction that fails takes the push with it, and leaves Django's connection usable.
    source += (
        "\ntry:\n    with begin() as tx:\n        tasks.push(tx, 'shipping', 'never')\n        raise KeyError\n"
        "except KeyError:\n    pass\n"
        "with begin() as tx:\n    print([task.identifier for task in tasks.page(tx, 'shipping')])\n"
    )
    (tmp_path / "program.py").write_text(source, encoding="utf-8")

    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PGAPPNAME": "docs"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].startswith("order-1 (")
    assert result.stdout.splitlines()[1:] == ["['order-1']"]
