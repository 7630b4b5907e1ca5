"""
What must hold in the end, whatever happened on the way: one rule for each promise.

Each rule is a function of the evidence that gives what it complains about; nothing if all is well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fire.auditor import balance, conduct, effects, insertion, order, waiting

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

RULES: dict[str, Callable[[sqlite3.Connection], list[str]]] = {
    "nothing lost": balance.lost,
    "nothing from nowhere": balance.nowhere,
    "counts agree": balance.counts,
    "nothing undecided": balance.undecided,
    "nothing decided twice": effects.twice,
    "no effect without its decision": effects.undecided_effects,
    "no decision without its effect": effects.missing_effects,
    "order": order.order,
    "singular": order.singular,
    "replacing": insertion.replacing,
    "unique": insertion.unique,
    "junctions": waiting.junctions,
    "dependencies": waiting.dependencies,
    "no session left in a transaction": conduct.sessions,
    "no lock left": conduct.locks,
    "all members ended well": conduct.members,
}
"""All rules by name."""


def audit(evidence: sqlite3.Connection) -> dict[str, list[str]]:
    """What each rule complains about, for those that do."""
    return {name: complaints for name, rule in RULES.items() if (complaints := rule(evidence))}
