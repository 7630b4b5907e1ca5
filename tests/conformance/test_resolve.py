"""Resolving moments and days to sequences (section 9 of BEHAVIOURS.md)."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from task_api import INCEPTION, MAX_SEQUENCE, InvalidTaskError, Task
from tests.backends import Backend
from tests.backends.steps import push
from tests.conformance.scenes import Repository, run, set_time

MIDNIGHT = datetime(2024, 5, 17, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TICK = timedelta(milliseconds=1)


def dated(backend: Backend, repository: Repository, topic: str, *moments: datetime) -> list[Task]:
    """Tasks that were pushed at these moments."""
    tasks = push(backend, repository, topic, *(f"task-{n}" for n in range(len(moments))))
    for task, moment in zip(tasks, moments, strict=True):
        set_time(backend, task, moment)
    return tasks


def test_following_is_the_first_at_or_after(backend: Backend, repository: Repository, topic: str) -> None:
    """The smallest sequence created then or later, MAX when there is none (LI-17)."""
    one, two = (task.sequence for task in dated(backend, repository, topic, MIDNIGHT, MIDNIGHT + HOUR))

    with backend.begin() as tx:
        assert repository.resolve(tx, MIDNIGHT - TICK) == one
        assert repository.resolve(tx, MIDNIGHT) == one
        assert repository.resolve(tx, MIDNIGHT + TICK) == two
        assert repository.resolve(tx, MIDNIGHT + HOUR) == two
        assert repository.resolve(tx, MIDNIGHT + HOUR + TICK) == MAX_SEQUENCE


def test_preceding_is_the_last_at_or_before(backend: Backend, repository: Repository, topic: str) -> None:
    """The largest sequence created then or earlier, INCEPTION when there is none (LI-18)."""
    one, two = (task.sequence for task in dated(backend, repository, topic, MIDNIGHT, MIDNIGHT + HOUR))

    with backend.begin() as tx:
        assert repository.resolve(tx, MIDNIGHT - TICK, preceding=True) == INCEPTION
        assert repository.resolve(tx, MIDNIGHT, preceding=True) == one
        assert repository.resolve(tx, MIDNIGHT + HOUR - TICK, preceding=True) == one
        assert repository.resolve(tx, MIDNIGHT + HOUR, preceding=True) == two
        assert repository.resolve(tx, MIDNIGHT + DAY, preceding=True) == two


@pytest.mark.parametrize("preceding", [False, True], ids=["following", "preceding"])
def test_the_ends_of_time_need_no_query(
    backend: Backend, repository: Repository, topic: str, *, preceding: bool
) -> None:
    """The least moment is INCEPTION, the greatest MAX, also where UTC can't express them (LI-19)."""
    dated(backend, repository, topic, MIDNIGHT)
    least, greatest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))

    with backend.begin() as tx:
        for moment in (least, least.replace(tzinfo=east)):
            assert repository.resolve(tx, moment, preceding=preceding) == INCEPTION
        for moment in (greatest, greatest.replace(tzinfo=west)):
            assert repository.resolve(tx, moment, preceding=preceding) == MAX_SEQUENCE


@pytest.mark.parametrize("moment", [MIDNIGHT, MIDNIGHT.date()], ids=["datetime", "date"])
def test_an_empty_table(backend: Backend, repository: Repository, moment: date) -> None:
    """Nothing follows and nothing precedes: MAX and INCEPTION (LI-17, LI-18, LI-20)."""
    assert run(backend, repository.resolve, moment) == MAX_SEQUENCE
    assert run(backend, repository.resolve, moment, preceding=True) == INCEPTION


def test_a_date_is_its_half_open_utc_day(backend: Backend, repository: Repository, topic: str) -> None:
    """From its midnight, included, to the next one, excluded (LI-20, LI-B5)."""
    moments = [MIDNIGHT - TICK, MIDNIGHT, MIDNIGHT + DAY - TICK, MIDNIGHT + DAY]
    _, first, last, _ = (task.sequence for task in dated(backend, repository, topic, *moments))
    day = MIDNIGHT.date()

    with backend.begin() as tx:
        assert repository.resolve(tx, day) == first
        assert repository.resolve(tx, day, preceding=True) == last
        assert repository.resolve(tx, day + 2 * DAY) == MAX_SEQUENCE
        assert repository.resolve(tx, day - 2 * DAY, preceding=True) == INCEPTION


def test_the_last_days_of_the_calendar(backend: Backend, repository: Repository, topic: str) -> None:
    """The least and the greatest date work like any other (LI-19, LI-20)."""
    (task,) = dated(backend, repository, topic, MIDNIGHT)

    with backend.begin() as tx:
        assert repository.resolve(tx, date.max) == MAX_SEQUENCE
        assert repository.resolve(tx, date.max, preceding=True) in {task.sequence, MAX_SEQUENCE}
        assert repository.resolve(tx, date.min) in {INCEPTION, task.sequence}
        assert repository.resolve(tx, date.min, preceding=True) == INCEPTION


def test_resolve_looks_at_all_topics(backend: Backend, repository: Repository, topic: str) -> None:
    """Sequences are global (LI-21)."""
    run(backend, repository.initialize, "other")
    (one,) = dated(backend, repository, topic, MIDNIGHT)
    (two,) = dated(backend, repository, "other", MIDNIGHT + HOUR)

    assert run(backend, repository.resolve, MIDNIGHT + TICK) == two.sequence
    assert run(backend, repository.resolve, MIDNIGHT + TICK, preceding=True) == one.sequence


def test_given_moments_may_have_any_offset(backend: Backend, repository: Repository, topic: str) -> None:
    """A moment means the same in every time zone (LI-22)."""
    _, two = dated(backend, repository, topic, MIDNIGHT, MIDNIGHT + HOUR)
    kathmandu = timezone(timedelta(hours=5, minutes=45))

    assert run(backend, repository.resolve, (MIDNIGHT + HOUR).astimezone(kathmandu)) == two.sequence


def test_sequences_and_times_need_not_agree(backend: Backend, repository: Repository, topic: str) -> None:
    """Transactions overlap: of what was created then, the extreme sequence counts (LI-17, LI-18, LI-B6)."""
    moments = [MIDNIGHT + 2 * HOUR, MIDNIGHT, MIDNIGHT + HOUR]
    one, _, three = dated(backend, repository, topic, *moments)

    assert run(backend, repository.resolve, MIDNIGHT + HOUR) == one.sequence
    assert run(backend, repository.resolve, MIDNIGHT + HOUR, preceding=True) == three.sequence


def test_a_moment_without_time_zone_is_refused(backend: Backend, repository: Repository) -> None:
    """Nobody can know what it means (LI-22)."""
    with pytest.raises(InvalidTaskError, match="time zone"):
        run(backend, repository.resolve, MIDNIGHT.replace(tzinfo=None))
