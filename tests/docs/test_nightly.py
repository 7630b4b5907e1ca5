"""The task of every night that docs/retries.md shows: whenever it is deployed, no night is left out or done twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskCreation, TaskDecision, TaskState
from task_sql import create_engine, create_repository, schema
from tests.docs.fences import ROOT, fences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NIGHT = datetime(2024, 11, 5, 2, tzinfo=UTC)
DAY = timedelta(days=1)


class Recipe:
    """What the page defines, on a database of its own."""

    def __init__(self, path: Path) -> None:
        self.engine = create_engine(f"sqlite:///{path}")
        self.tasks = create_repository(self.engine)
        [block] = [
            fence.body
            for fence in fences((ROOT / "docs" / "retries.md").read_text(encoding="utf-8"))
            if "def schedule(" in fence.body
        ]
        self.names: dict[str, Any] = {
            "datetime": datetime,
            "timedelta": timedelta,
            "Task": Task,
            "TaskCreation": TaskCreation,
            "tasks": self.tasks,
        }
        exec(block, self.names)  # noqa: S102 - our own page
        with self.engine.begin() as tx:
            schema.install(tx)
            self.tasks.register(tx)
            self.tasks.initialize(tx, "exports")

    def deploy(self, moment: datetime) -> datetime:
        """Begin the chain, or find it begun."""
        with self.engine.begin() as tx:
            found = self.names["schedule"](tx, moment)
        assert isinstance(found, datetime)
        return found

    def work(self, decision: TaskDecision | None = None) -> None:
        """Do what is due, as a worker does it, or decide it like this."""
        with self.engine.begin() as tx:
            self.tasks.promote(tx, "exports")
            task = self.tasks.poll(tx, "exports")
            assert task is not None
            chosen = decision or TaskDecision.success(self.names["export"](task, tx))
            self.tasks.complete(tx, "exports", task, chosen)

    def nights(self) -> dict[datetime, TaskState]:
        """What there is for each night."""
        with self.engine.begin() as tx:
            found = self.tasks.page(tx, "exports")
        nights = [datetime.fromisoformat(task.identifier) for task in found]
        assert len(nights) == len(set(nights))
        return dict(zip(nights, [task.state for task in found], strict=True))


@pytest.fixture
def recipe(tmp_path: Path) -> Iterator[Recipe]:
    """The recipe, in a folder of its own."""
    recipe = Recipe(tmp_path / "shop.db")
    yield recipe
    recipe.engine.dispose()


@pytest.mark.parametrize(
    ("since", "night"),
    [
        (timedelta(hours=-3), NIGHT),
        (timedelta(minutes=-30), NIGHT),
        (timedelta(microseconds=-1), NIGHT),
        (timedelta(), NIGHT + DAY),
        (timedelta(minutes=30), NIGHT + DAY),
    ],
)
def test_the_next_night_is_the_one_to_come(recipe: Recipe, since: timedelta, night: datetime) -> None:
    """Between midnight and two it is the same day's, and at two the next day's."""
    assert recipe.deploy(NIGHT + since) == night
    assert recipe.nights() == {night: TaskState.SUSPENDED}


@pytest.mark.parametrize("decision", [None, TaskDecision.retry(timedelta(hours=1))])
def test_a_deployment_leaves_what_is_there(recipe: Recipe, decision: TaskDecision | None) -> None:
    """However often, and whether the night's task is overdue, is to be tried again, or is done."""
    for minutes in (-150, -30, -30):
        recipe.deploy(NIGHT + timedelta(minutes=minutes))
    recipe.deploy(NIGHT + timedelta(minutes=1))
    assert recipe.nights() == {NIGHT: TaskState.SUSPENDED, NIGHT + DAY: TaskState.SUSPENDED}
    recipe.work(decision)
    recipe.deploy(NIGHT + timedelta(minutes=2))
    state = TaskState.SUCCEEDED if decision is None else TaskState.SUSPENDED
    assert recipe.nights() == {NIGHT: state, NIGHT + DAY: TaskState.READY}


def test_every_night_follows_from_the_one_before(recipe: Recipe) -> None:
    """Also when nothing was done for days: each is made up for, once, and the chain meets what was deployed."""
    recipe.deploy(NIGHT - timedelta(hours=1))
    recipe.deploy(NIGHT + 3 * DAY - timedelta(hours=1))
    for _ in range(5):
        recipe.work()
    done = dict.fromkeys([NIGHT + number * DAY for number in range(5)], TaskState.SUCCEEDED)
    assert recipe.nights() == done | {NIGHT + 5 * DAY: TaskState.READY}
