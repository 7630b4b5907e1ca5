"""Numbers as people read them."""

from __future__ import annotations

import pytest

from task_console.words import counted


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 tasks are gone"), (1, "1 task is gone"), (2, "2 tasks are gone"), (1234, "1234 tasks are gone")],
)
def test_one_is_no_plural(number: int, text: str) -> None:
    """Nouns and verbs go by the number."""
    assert counted(number, "task is gone", "tasks are gone") == text


def test_most_nouns_take_an_s() -> None:
    """So that it need not be said."""
    assert (counted(1, "owner"), counted(2, "owner")) == ("1 owner", "2 owners")
