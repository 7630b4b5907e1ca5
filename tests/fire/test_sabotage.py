"""Each rule of the auditor notices when the promise that it stands for is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fire import auditor
from tests.fire.conductor import Conductor
from tests.fire.plan import Plan
from tests.fire.sabotage import SABOTAGES
from tests.fire.stage import stage
from tests.fire.topics import LINGER, RAISE, SUCCEED, TOPICS, Topic

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fire.conductor import Outcome

pytestmark = pytest.mark.timeout(120)
_BY_NAME = {topic.name: topic for topic in TOPICS}
_SIMPLE = (Topic("plain", 1, claims=("COMMITTED",), mix=((SUCCEED, 1.0),)),)
_SINGULAR = (Topic("singular", 1, "SINGULAR_BY_IDENTIFIER", claims=("COMMITTED",), pool=5, timed=True),)
SCENES: dict[str, tuple[Topic, ...]] = {
    "promote": (Topic("due", 1),),
    "fence": (Topic("plain", 1, claims=("COMMITTED",), short=True, mix=((SUCCEED, 98.0), (LINGER, 2.0))),),
    "apart": (Topic("plain", 1, mix=((SUCCEED, 90.0), (RAISE, 10.0))),),
    "reverse": _SINGULAR,
    "siblings": _SINGULAR,
    "retire": (Topic("modes", 1, modes=("SUPERSEDE", "REPLACE"), pool=20, shared=True),),
    "unique": (Topic("unique", 1, modes=("UNIQUE",), pool=20, shared=True), *_SIMPLE),
    "junction": (_BY_NAME["parts"], _BY_NAME["joined"]),
    "dependency": (_BY_NAME["before"], _BY_NAME["after"]),
}
"""The topics that show a sabotage best; a simple one shows the others."""


def run(name: str, folder: Path, database: str = "sqlite") -> Outcome:
    """Run a little with something broken."""
    plan = Plan(
        seed=1,
        database=database,
        tasks=300,
        workers=2,
        producers=1,
        topics=SCENES.get(name, _SIMPLE),
        batch=(3, 8),
        backlog=150,
        lease=0.5,
        heartbeat=0.2,
        expiry=2.0,
        pause=0.05,
        patience=2.0 if name == "promote" else 20.0,
        settling=2.0,
        sabotage=name,
    )
    with stage(plan, folder) as built:
        return Conductor(plan, built, folder).run()


@pytest.mark.parametrize("name", [name for name in SABOTAGES if name not in ("session", "lock")])
def test_what_is_broken_is_noticed(name: str, tmp_path: Path) -> None:
    """A broken promise is told by its rule."""
    outcome = run(name, tmp_path)
    assert SABOTAGES[name].rule in outcome.complaints, outcome.complaints


@pytest.mark.parametrize("name", ["session", "lock"])
def test_what_is_left_open_is_noticed(name: str, tmp_path: Path) -> None:
    """A transaction or a lock that is left open is told by its rule."""
    outcome = run(name, tmp_path, "postgresql")
    assert SABOTAGES[name].rule in outcome.complaints, outcome.complaints


def test_every_rule_can_be_broken() -> None:
    """There is a sabotage for each rule."""
    assert {sabotage.rule for sabotage in SABOTAGES.values()} == auditor.RULES.keys()
