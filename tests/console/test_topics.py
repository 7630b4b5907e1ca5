"""``topiq topics``, ``init``, ``destroy``, ``pause`` and ``resume``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.console.calls import failure, invoke

if TYPE_CHECKING:
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


def test_topics_are_made_and_listed(topiq: Topiq) -> None:
    """A topic that exists is left as it is."""
    assert topiq("topics") == "There are no topics; make one with `topiq init TOPIC`.\n"
    assert topiq.json("init", "orders", "mails") == {"orders": True, "mails": True}
    assert topiq("init", "orders", "more") == "orders: was there already\nmore: made\n"
    assert topiq.lines("topics") == [["topic", "activation"], ["mails"], ["more"], ["orders"]]


def test_a_topic_that_is_named_twice_is_made_once(topiq: Topiq) -> None:
    """And told once, as new."""
    assert topiq("init", "orders", "mails", "orders") == "orders: made\nmails: made\n"
    assert topiq.json("init", "more", "more", "mails") == {"more": True, "mails": False}


def test_topics_are_made_all_or_none(topiq: Topiq) -> None:
    """One that can't be made leaves those before it unmade."""
    assert topiq.fails("init", "orders", " ", "mails") == (2, "topic must not be empty or blank")
    assert topiq.json("topics") == []


def test_pause_and_resume_are_stored(topiq: Topiq) -> None:
    """Until somebody says so, nothing is stored."""
    topiq("init", "orders", "mails")
    assert topiq.json("topics") == [{"topic": "mails", "activation": None}, {"topic": "orders", "activation": None}]
    assert topiq("pause", "orders") == "orders is paused; `topiq resume orders` ends that\n"
    assert ["orders", "PAUSED"] in topiq.lines("topics")
    assert topiq.json("resume", "orders", "mails") == {"orders": True, "mails": True}
    assert [topic["activation"] for topic in topiq.json("topics")] == [True, True]
    assert topiq.json("pause", "mails") == {"mails": False}
    assert topiq("resume", "mails") == "mails is resumed\n"


@pytest.mark.parametrize("command", ["pause", "resume", "destroy"])
def test_a_wrong_topic_gets_a_suggestion(topiq: Topiq, command: str) -> None:
    """The name that may be meant is offered; nothing is changed, also not for the right one beside it."""
    topiq("init", "orders")
    names = ["oders"] if command == "destroy" else ["orders", "oders"]
    assert topiq.fails(command, *names) == (5, "there is no topic 'oders'; did you mean 'orders'?")
    assert topiq.json("topics") == [{"topic": "orders", "activation": None}]


def test_a_strange_topic_gets_the_list(topiq: Topiq) -> None:
    """Where no name is close, it is said how to see them."""
    topiq("init", "orders")
    assert topiq.fails("pause", "zebra") == (5, "there is no topic 'zebra'; `topiq topics` lists those that exist")


def test_a_first_topic_is_to_be_made(topiq: Topiq) -> None:
    """Where there is none, it is said how to make it."""
    assert topiq.fails("pause", "zebra") == (5, "there is no topic 'zebra'; make it with `topiq init zebra`")


def test_an_impossible_topic_is_refused(topiq: Topiq) -> None:
    """The limits of names are told."""
    code, line = topiq.fails("init", "x" * 251)
    assert code == 2
    assert "250 are allowed" in line
    assert topiq.fails("init", " ") == (2, "topic must not be empty or blank")


def test_destroy_asks_and_deletes(topiq: Topiq) -> None:
    """The number of tasks by state is shown first; without a yes nothing is deleted."""
    topiq("init", "orders", "mails")
    topiq("push", "orders", "a", "b")
    topiq("push", "orders", "c", "--suspended")
    result = invoke("destroy", "orders", url=topiq.url, given="no\n")
    assert failure(result)[0] == 1
    assert "orders has 3 tasks: 2 READY, 1 SUSPENDED" in result.stderr
    assert len(topiq.json("list", "orders")) == 3
    assert topiq.json("destroy", "orders", "--yes") == {"topic": "orders", "tasks": 3}
    assert [topic["topic"] for topic in topiq.json("topics")] == ["mails"]
    assert topiq("destroy", "mails", given="y\n") == "mails is destroyed, 0 tasks are deleted\n"


def test_no_answer_is_no(topiq: Topiq) -> None:
    """A script that forgot --yes deletes nothing."""
    topiq("init", "orders")
    assert topiq.fails("destroy", "orders", given="")[0] == 1
    assert len(topiq.json("topics")) == 1
