"""SQLite: what a holder does with its tasks."""

from typing import Final

from task_api import Claim

from ..statements import HoldStatements
from .times import NOW, from_now

__all__ = ["HOLD"]

_HELD: Final = {
    Claim.COMMITTED: "t.topic = :topic AND t.state = 0 AND t.owner = :owner AND t.token = {token}",
    Claim.TRANSACTION: (
        "t.topic = :topic AND t.state = 1 AND t.token = {token} - 1"
        " AND EXISTS (SELECT 1 FROM temp.task_claim AS c"
        " WHERE c.sequence = t.sequence AND c.token = {token} AND c.owner = :owner)"
    ),
}
_TAKEN: Final = {
    Claim.COMMITTED: "",
    Claim.TRANSACTION: f"owner = :owner, attempt = attempt + 1, token = token + 1, polled = {NOW}, ",
}


# What is given is an object, from the sequence to the token: reading its keys and values costs less than any path.
# Tasks are found by their key: once SQLite has statistics, it would find those that are READY by task_ready first.
def _held(claim: Claim, given: str = "g.value") -> str:
    return f"""
SELECT t.sequence FROM json_each(:given) AS g CROSS JOIN task AS t NOT INDEXED ON t.sequence = g.key
WHERE {_HELD[claim].format(token=given)}
"""


def _all_or_none(claim: Claim, change: str) -> str:
    """Change the given tasks alike, or none where one of them is not held."""
    return f"""
UPDATE task SET {change}
WHERE sequence IN (SELECT key FROM json_each(:given))
AND :number = (SELECT count(*) FROM ({_held(claim)}))
"""


def _each_or_none(claim: Claim, change: str) -> str:
    """Change the given tasks each its own way, or none where one of them is not held."""
    return f"""
UPDATE task SET {change}
FROM json_each(:given) AS g
WHERE task.sequence = g.key
AND :number = (SELECT count(*) FROM ({_held(claim, "json_extract(g.value, '$[0]')")}))
"""


def _one(claim: Claim, change: str) -> str:
    return f"""
UPDATE task AS t SET {change}
WHERE t.sequence = :sequence AND {_HELD[claim].format(token=":token")}
"""


def _decided(state: str, output: str, due: str, delay: str) -> str:
    return (
        f"state = {state}, output = {output}, completed = {NOW},"
        f" due = coalesce({due}, strftime('%Y-%m-%d %H:%M:%f', 'now', {delay}))"
    )


_SAME: Final = _decided(":state", ":output", ":due", ":delay")
_EACH: Final = _decided(*(f"json_extract(g.value, '$[{place}]')" for place in range(1, 5)))

HOLD: Final = HoldStatements(
    complete_one={claim: _one(claim, _TAKEN[claim] + _SAME) for claim in Claim},
    complete_same={claim: _all_or_none(claim, _TAKEN[claim] + _SAME) for claim in Claim},
    complete_alike=None,
    complete={claim: _each_or_none(claim, _TAKEN[claim] + _EACH) for claim in Claim},
    release=_all_or_none(Claim.COMMITTED, "state = 1, attempt = max(attempt - 1, 0), lease = NULL"),
    extend=_all_or_none(Claim.COMMITTED, f"lease = {from_now('lease')}"),
    checkpoint={claim: _one(claim, "input = :input") for claim in Claim},
    held={claim: _held(claim) for claim in Claim},
    lock={claim: _held(claim) for claim in Claim},
)
