"""
Every statement as a file, so that a change of SQL is seen in a diff.

After a change that is meant: ``TOPIQ_UPDATE_GOLDEN=1 pytest tests/sql/test_golden.py``.
"""

import os
import re
from pathlib import Path

import pytest

from .collect import DIALECTS, statements

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "TOPIQ_UPDATE_GOLDEN" in os.environ


def _text(variants: dict[str, str]) -> str:
    return "\n".join(
        f"-- {label}\n{text.strip()}\n" if label else f"{text.strip()}\n" for label, text in variants.items()
    )


def _shown(name: str, variants: dict[str, str]) -> dict[str, str]:
    """Show lists and counts with one filter at a time; the others differ in nothing new."""
    return {label: text for label, text in variants.items() if not name.startswith("list.") or "+" not in label}


@pytest.mark.parametrize("database", DIALECTS)
def test_statements_are_as_reviewed(database: str) -> None:
    """Each statement reads as its golden file does, and no file is left without one."""
    texts = {f"{name}.sql": _text(_shown(name, variants)) for name, variants in statements(database).items()}
    folder = GOLDEN / database
    if UPDATE:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.sql"):
            path.unlink()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.sql")} == texts


LITERALS = {
    "postgresql": {
        "'task_sequence'", "'task_notification'", "'WORK '", "'ACTIVATION '", "'topiq.claimed'", "''", "','", "':'",
        "'USAGE'", "'transaction_isolation'", "'read committed'", "'read uncommitted'",
        "'{4}'", "'{1,2,3,4}'", "'{0,1,2,3,4}'", r"'\n'",
    },
    "oracle": {"'SECOND'", "'YYYY-MM-DD HH24:MI:SS.FF6'", "'$[*]'", "'$[0]'", "'$[1]'", "'Partitioning'"},
    "sqlite": {
        "''", "'now'", "'%Y-%m-%d %H:%M:%f'", "'$[0]'", "'$[1]'", "'$[2]'", "'$[3]'", "'$[4]'",
    },
}  # fmt: skip


@pytest.mark.parametrize("database", DIALECTS)
def test_statements_hold_no_values(database: str) -> None:
    """All text in quotes is the library's own; what callers give comes as parameters."""
    texts = [text for variants in statements(database).values() for text in variants.values()]
    assert {literal for text in texts for literal in re.findall(r"'[^']*'", text)} == LITERALS[database]


def test_no_bare_per_cent_on_postgresql() -> None:
    """A per cent sign that is no parameter's would have to be doubled where there are parameters, and only there."""
    for name, variants in statements("postgresql").items():
        for text in variants.values():
            assert "%" not in text.replace("%(", ""), name


def test_writes_on_sqlite_begin_as_such() -> None:
    """The driver opens a transaction only before a statement that starts with the word of a write."""
    for name, variants in statements("sqlite").items():
        for text in variants.values():
            assert text.split()[0] in {
                "SELECT",
                "INSERT",
                "UPDATE",
                "DELETE",
                "REPLACE",
                "CREATE",
                "PRAGMA",
                "ANALYZE",
            }, name
