"""What the queue is asked to do: topics that each use it in another way."""

from __future__ import annotations

from dataclasses import dataclass

SUCCEED, FILTER, FAIL, SUSPEND, RAISE, LINGER = "s", "x", "f", "u", "r", "l"
"""What a task's input tells its handler to do; the last three only at its first attempt."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic."""

    name: str
    """Its name, which says what it is for."""
    weight: int
    """How often producers choose it."""
    condition: str = "NONE"
    """The condition of all who poll it."""
    order: str = "FIRST_IN_FIRST_OUT"
    """The order of all who poll it."""
    claims: tuple[str, ...] = ("COMMITTED", "TRANSACTION")
    """The claims that its workers choose from."""
    modes: tuple[str, ...] = ("APPEND",)
    """The insertion modes that its producers choose from."""
    pool: int = 0
    """How many identifiers each producer has for it; 0: every task has one of its own."""
    shared: bool = False
    """Whether all producers push the same identifiers."""
    single: bool = False
    """Whether its tasks are worked on one by one."""
    short: bool = False
    """Whether all claims have a lease that is not extended."""
    timed: bool = False
    """Whether the moments of its claims are needed to judge it."""
    mix: tuple[tuple[str, float], ...] = ((SUCCEED, 94), (FILTER, 2), (FAIL, 2), (SUSPEND, 2), (RAISE, 0.02))
    """What its tasks do, by weight."""


_HARMLESS = ((SUCCEED, 96.0), (FILTER, 2.0), (SUSPEND, 2.0), (RAISE, 0.05))
_SURE = ((SUCCEED, 98.0), (SUSPEND, 2.0), (RAISE, 0.05))

TOPICS = (
    Topic(
        "plain", 30, mix=((SUCCEED, 94.0), (FILTER, 2.0), (FAIL, 2.0), (SUSPEND, 2.0), (RAISE, 0.02), (LINGER, 0.003))
    ),
    Topic("swift", 18, claims=("TRANSACTION",)),
    Topic("stack", 8, order="LAST_IN_FIRST_OUT"),
    Topic("single", 1, single=True),
    Topic("singular", 12, condition="SINGULAR_BY_IDENTIFIER", pool=400, timed=True),
    Topic(
        "strict",
        4,
        condition="SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS",
        pool=200,
        timed=True,
        mix=_HARMLESS,
    ),
    Topic(
        "wary",
        3,
        condition="SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE",
        order="LAST_IN_FIRST_OUT",
        pool=200,
        timed=True,
        mix=_HARMLESS,
    ),
    Topic("modes", 8, modes=("SUPERSEDE", "REPLACE", "DELETE"), pool=500, shared=True),
    Topic("unique", 3, modes=("UNIQUE",), pool=5000, shared=True),
    Topic("due", 4),
    Topic("before", 5),
    Topic("after", 0, timed=True, mix=_HARMLESS),
    Topic("parts", 4, mix=_SURE),
    Topic("joined", 0, timed=True, mix=_SURE),
)
"""All of them. Tasks of ``after`` wait for some of ``before``; those of ``parts`` bring those of ``joined``."""
