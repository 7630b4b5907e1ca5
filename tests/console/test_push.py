"""``topiq push``: identifiers, fields and lines of JSON become tasks, all of them or none."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.calls import invoke

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture(autouse=True)
def orders(topiq: Topiq) -> None:
    """The topic of all these tests."""
    topiq("init", "orders")


def stored(topiq: Topiq, *names: str) -> list[tuple[Any, ...]]:
    """These fields of all tasks."""
    return [tuple(task[name] for name in names) for task in topiq.json("list", "orders")]


def lines(*values: object) -> str:
    """Values as lines of JSON."""
    return "".join(json.dumps(value) + "\n" for value in values)


def test_identifiers_are_pushed_in_their_order(topiq: Topiq) -> None:
    """The sequences are told, and rise."""
    pushed = topiq.json("push", "orders", "b", "a", "--input", "text", "--reference", "r")
    assert [task["identifier"] for task in pushed] == ["b", "a"]
    assert pushed[0]["sequence"] < pushed[1]["sequence"]
    assert stored(topiq, "identifier", "input", "reference", "state") == [
        ("b", "text", "r", "READY"),
        ("a", "text", "r", "READY"),
    ]
    assert topiq("push", "orders", "c") == f"pushed {pushed[1]['sequence'] + 1} to orders\n"
    assert topiq("push", "orders", "d", "e").startswith("pushed 2 tasks to orders: ")


def test_due_is_a_time_from_now_or_a_moment(topiq: Topiq) -> None:
    """Both make a task that waits; a moment without a zone is UTC."""
    topiq("push", "orders", "a", "--due", "1h30m")
    topiq("push", "orders", "b", "--due", "2100-01-01T12:00")
    topiq("push", "orders", "c", "--due", "2100-01-01T12:00+02:00")
    topiq("push", "orders", "d", "--suspended")
    [(state, first), (_, second), (_, third), (last, none)] = stored(topiq, "state", "due")
    assert (state, last, none) == ("SUSPENDED", "SUSPENDED", None)
    away = datetime.fromisoformat(first) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=25) < away <= timedelta(hours=1, minutes=31)
    assert second == "2100-01-01T12:00:00+00:00"
    assert third == "2100-01-01T10:00:00+00:00"


def test_due_may_be_now(topiq: Topiq) -> None:
    """As an option and in a line of JSON: who makes due tasks READY next takes them."""
    topiq("push", "orders", "a", "--due", "now")
    topiq("push", "orders", "--from-file", "-", given=lines({"identifier": "b", "due": "now"}))
    for state, due in stored(topiq, "state", "due"):
        assert state == "SUSPENDED"
        assert abs(datetime.now(UTC) - datetime.fromisoformat(due)) < timedelta(minutes=5)


def test_insertion_says_what_becomes_of_older_tasks(topiq: Topiq) -> None:
    """Names of modes are taken in any case."""
    topiq("push", "orders", "a")
    topiq("push", "orders", "a", "--insertion", "replace")
    assert stored(topiq, "state") == [("REDUNDANT",), ("READY",)]
    topiq("push", "orders", "a", "--insertion", "DELETE")
    assert len(stored(topiq, "state")) == 1


def test_a_task_that_is_there_is_told_from_a_new_one(topiq: Topiq) -> None:
    """What UNIQUE finds is not pushed, and not said to be."""
    unique = ("--insertion", "UNIQUE")
    [a, b] = topiq.json("push", "orders", "a", "b", *unique)
    assert (a["new"], b["new"]) == (True, True)
    assert topiq("push", "orders", "a", *unique) == f"nothing was pushed to orders: {a['sequence']} was there already\n"
    assert topiq("push", "orders", "a", "b", *unique) == "nothing was pushed to orders: 2 tasks were there already\n"
    c = b["sequence"] + 1
    assert topiq("push", "orders", "a", "c", "c", *unique) == f"pushed {c} to orders; 1 task was there already\n"
    said = topiq("push", "orders", "c", "b", "d", "e", *unique)
    assert said == f"pushed 2 tasks to orders: {c + 1} to {c + 2}; 2 tasks were there already\n"
    told = topiq.json("push", "orders", "f", "a", *unique)
    assert [(task["sequence"], task["new"]) for task in told] == [(c + 3, True), (a["sequence"], False)]
    assert all(task["new"] for task in topiq.json("push", "orders", "a", "b"))


def test_a_file_has_a_task_on_each_line(topiq: Topiq, tmp_path: Path) -> None:
    """The keys are the fields of a task; an input that is no text is stored as JSON."""
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        lines(
            {"identifier": "a", "input": "text", "reference": "r"},
            {"identifier": "b", "input": {"x": [1, "ü"]}, "suspended": True},
            {"identifier": "c", "due": "10m"},
            {"identifier": "d", "due": 0.5, "input": None},
            {"identifier": "e", "due": "2100-01-01T12:00:00Z"},
            "f",
        )
        + "\n",
        encoding="utf-8",
    )
    assert len(topiq.json("push", "orders", "--from-file", path)) == 6
    assert stored(topiq, "identifier", "input", "reference", "state") == [
        ("a", "text", "r", "READY"),
        ("b", '{"x":[1,"ü"]}', None, "SUSPENDED"),
        ("c", None, None, "SUSPENDED"),
        ("d", None, None, "SUSPENDED"),
        ("e", None, None, "SUSPENDED"),
        ("f", None, None, "READY"),
    ]


def test_tasks_that_wait_are_pushed_and_shown(topiq: Topiq) -> None:
    """They name those that they wait for by number, or by topic and number (S1-21)."""
    [first, *_] = topiq.json("push", "orders", "first")
    refs = [first["sequence"], {"topic": "orders", "sequence": first["sequence"]}]
    given = lines({"identifier": "next", "after": refs, "on_abort": "run"})
    [then] = topiq.json("push", "orders", "--from-file", "-", given=given)
    named = {"topic": "orders", "sequence": first["sequence"]}
    assert topiq.json("show", "orders", then["sequence"])["after"] == [named]
    shown = topiq.json("show", "orders", first["sequence"])
    assert shown["dependents"] == [{"topic": "orders", "sequence": then["sequence"]}]
    said = topiq("show", "orders", then["sequence"])
    assert ["after", "orders", str(first["sequence"])] in [line.split() for line in said.splitlines()]
    assert ["state", "SUSPENDED"] in [line.split() for line in said.splitlines()]


def test_a_dash_means_the_standard_input(topiq: Topiq) -> None:
    """Another program's output can be pushed, more than one chunk of it."""
    given = lines(*({"identifier": f"task-{number}"} for number in range(5001)))
    assert topiq("push", "orders", "--from-file", "-", given=given).startswith("pushed 5001 tasks")
    assert topiq.json("count")["orders"]["READY"]["count"] == 5001


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"identifier": "a", "input": ' + "[" * 100_000, "it is nested too deeply"),
        ("[]", "a task is an object or an identifier, not []"),
        ('{"input": "x"}', "a task needs an identifier"),
        ('{"identifier": ""}', "identifier must not be empty or blank"),
        ('{"identifier": 5}', "identifier must be a str, not int"),
        ('{"identifier": "a", "priority": 1}', "unknown field 'priority'; there are identifier, input, reference"),
        ('{"identifier": "a", "due": "soon"}', "'soon' is no time"),
        ('{"identifier": "a", "due": [1]}', "due is a time or a number of seconds, not [1]"),
        ('{"identifier": "a", "due": 1e300}', "1e+300 is too long a time"),
        ('{"identifier": "a", "due": NaN}', "nan is too long a time"),
        ('{"identifier": "a", "due": 1e11}', "within a thousand years"),
        ('{"identifier": "a", "suspended": "yes"}', "suspended must be True or False"),
        ('{"identifier": "a", "after": 7}', "after is a list of tasks, not 7"),
        ('{"identifier": "a", "after": ["x"]}', "a task to wait for is a sequence, or"),
        (f'{{"identifier": "a", "after": [{2**63}]}}', f"the number that a push gave it, not {2**63}"),
        (f'{{"identifier": "a", "after": [{10**4000}]}}', "the number that a push gave it, not 1000"),
        (f'{{"identifier": "a", "after": [{"9" * 5000}]}}', "a number in it has too many digits"),
        ('{"identifier": "a", "after": [{"topic": "orders", "sequence": "x"}]}', "a push gave it, not 'x'"),
        ('{"identifier": "a", "after": [{"topic": 5, "sequence": 1}]}', "topic must be a str, not int"),
        (f'{{"identifier": "a", "due": {10**4000}}}', "is too long a time"),
        ('{"identifier": "a", "after": [1], "on_abort": "hope"}', "on_abort is one of CASCADE, RUN, WAIT"),
    ],
)
def test_one_wrong_line_stops_all(topiq: Topiq, line: str, reason: str) -> None:
    """The line is named, and nothing is pushed."""
    code, said = topiq.fails("push", "orders", "--from-file", "-", given=f'{{"identifier": "good"}}\n{line}\n')
    assert code == 2
    assert "line 2: " in said
    assert reason in said
    assert said.endswith("nothing was pushed")
    assert len(said) < 300
    assert stored(topiq, "identifier") == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("orders",), "nothing to push"),
        (("orders", "a", "--from-file", "-"), "--from-file brings identifiers"),
        (("orders", "--from-file", "-", "--input", "x"), "--from-file brings identifiers"),
        (("orders", "a", "--due", "soon"), "'soon' is no time"),
        (("orders", "a", "--insertion", "prepend"), "'prepend' is none of APPEND"),
        (("orders", "--from-file", "missing.jsonl"), "No such file"),
        (("orders", "x" * 501), "500 are allowed"),
    ],
)
def test_wrong_arguments_are_told(topiq: Topiq, arguments: tuple[str, ...], reason: str) -> None:
    """Each mistake is answered by a sentence and exit code 2."""
    code, line = topiq.fails("push", *arguments)
    assert code == 2
    assert reason in line


@pytest.mark.parametrize("before", [0, 1, 2000])
def test_a_file_that_is_no_text_is_refused(topiq: Topiq, tmp_path: Path, before: int) -> None:
    """Bytes that are no UTF-8 give a sentence, with the line that they are in."""
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b'"good"\n' * before + b'{"identifier": "\xff"}\n"good"\n')
    said = f"{path}, line {before + 1}: it is not UTF-8; nothing was pushed"
    assert topiq.fails("push", "orders", "--from-file", path) == (2, said)
    assert stored(topiq, "identifier") == []


@pytest.mark.parametrize("option", ["--input", "--reference", None])
def test_an_argument_that_is_no_text_is_refused(topiq: Topiq, option: str | None) -> None:
    """Bytes that are no UTF-8 come as surrogates."""
    code, line = topiq.fails("push", "orders", *(("bad\udcff",) if option is None else ("a", option, "bad\udcff")))
    assert code == 2
    assert "must be valid Unicode" in line
    assert stored(topiq, "identifier") == []


def test_an_unknown_topic_is_told(topiq: Topiq) -> None:
    """The topic that may be meant is offered."""
    assert topiq.fails("push", "order", "a") == (5, "there is no topic 'order'; did you mean 'orders'?")


def test_an_empty_file_pushes_nothing(topiq: Topiq) -> None:
    """That is no mistake."""
    assert topiq("push", "orders", "--from-file", "-", given="\n") == "nothing was pushed to orders\n"
    assert invoke("push", "orders", "--from-file", "-", "--json", url=topiq.url, given="").stdout == "[]\n"
