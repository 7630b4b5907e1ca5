"""
Rules of our own: what the parser lets through and Oracle does not, or takes otherwise than it looks.

A rule is a function of a statement that gives what is wrong, for Oracle 19c as for 23ai. PL/SQL is refused altogether:
nothing here could execute it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.oracle.static.tokens import read

from . import foreign, hints, locks, meaning, names, shape, tables

if TYPE_CHECKING:
    from .rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *shape.RULES,
    *foreign.RULES,
    *names.RULES,
    *locks.RULES,
    *meaning.RULES,
    *tables.RULES,
    *hints.RULES,
)


def check(text: str) -> list[str]:
    """Return what is wrong with a statement."""
    statement = read(text)
    return [f"{message} ({rule.__name__})" for rule in RULES for message in rule(statement)]
