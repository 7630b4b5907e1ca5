"""``topiq list``, ``show``, ``count`` and ``results``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from task_api import Task, TaskDecision, TaskState
from tests.backends.steps import complete, drive, poll, push
from tests.console.calls import failure, invoke

if TYPE_CHECKING:
    from task_api import TaskRepository
    from tests.backends import Backend
    from tests.console.calls import Topiq

pytestmark = [pytest.mark.kinds("connection"), pytest.mark.backends("sqlite", "postgresql")]


@pytest.fixture
def tasks(backend: Backend, repository: TaskRepository[Any], topic: str) -> list[Task]:
    """Three tasks: the first failed with a trace, the second succeeded, the third is READY."""
    pushed = push(backend, repository, topic, "a", "b", "c", reference="r", input="some\ninput")
    [first, second] = poll(backend, repository, topic, 2)
    try:
        raise ValueError("it broke")  # noqa: EM101, TRY003, TRY301 - as work does
    except ValueError as error:
        complete(backend, repository, topic, first, TaskDecision.failure(error))
    complete(backend, repository, topic, second)
    return pushed


def test_list_shows_tasks_in_their_order(topiq: Topiq, tasks: list[Task]) -> None:
    """Of an output the last line is shown, which of a trace is the error."""
    header, *rows = topiq.lines("list", "topic")
    assert header == ["sequence", "identifier", "state", "try", "created", "output"]
    assert [row[:4] for row in rows] == [
        [str(tasks[0].sequence), "a", "FAILED", "1"],
        [str(tasks[1].sequence), "b", "SUCCEEDED", "1"],
        [str(tasks[2].sequence), "c", "READY", "0"],
    ]
    assert rows[0][6:] == ["ValueError:", "it", "broke"]


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "abc"),
        (("--backward",), "cba"),
        (("-b", "--size", "1"), "c"),
        (("--state", "failed"), "a"),
        (("--identifier", "b"), "b"),
        (("--reference", "r"), "abc"),
        (("--reference", "other"), ""),
        (("--start", "1h"), "abc"),
        (("--start", "1h", "-b"), ""),
        (("--start", "2100-01-01"), ""),
        (("--start", "2100-01-01", "-b"), "cba"),
        (("--start", datetime.now(UTC).date() - timedelta(days=1)), "abc"),
    ],
)
def test_list_takes_filters(topiq: Topiq, arguments: tuple[str, ...], expected: str) -> None:
    """State, identifier, reference, start, size and direction choose the tasks."""
    assert "".join(task["identifier"] for task in topiq.json("list", "topic", *arguments)) == expected


def test_list_goes_on_page_by_page(topiq: Topiq, tasks: list[Task]) -> None:
    """A full page tells how to go on, on the standard error."""
    result = invoke("list", "topic", "--size", 2, url=topiq.url)
    assert result.stderr == f"There may be more; go on with --start {tasks[1].sequence}\n"
    rest = topiq.json("list", "topic", "--start", tasks[1].sequence)
    assert [task["sequence"] for task in rest] == [tasks[2].sequence]
    assert invoke("list", "topic", url=topiq.url).stderr == ""


@pytest.mark.usefixtures("topic")
def test_list_of_nothing_says_so(topiq: Topiq) -> None:
    """An empty answer is an answer."""
    assert topiq("list", "topic") == "topic has no such tasks\n"
    assert topiq.json("list", "topic") == []


def test_show_tells_everything(topiq: Topiq, tasks: list[Task]) -> None:
    """Fields that are empty are left out for people, and null for scripts."""
    said = topiq("show", "topic", tasks[0].sequence)
    assert "\ninput\nsome\ninput\n" in said
    assert said.rstrip().endswith("ValueError: it broke")
    assert ["state", "FAILED"] in [line.split() for line in said.splitlines()]
    assert "due" not in said
    shown = topiq.json("show", "topic", tasks[0].sequence)
    assert shown["output"].endswith("ValueError: it broke")
    assert (shown["owner"], shown["due"], shown["attempt"]) == ("me", None, 1)
    assert shown["created"].endswith("+00:00")
    assert list(shown)[:4] == ["topic", "sequence", "identifier", "input"]


def test_show_of_a_missing_task_says_where_it_is(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], tasks: list[Task]
) -> None:
    """A task of another topic is found there, and one that is nowhere may have been purged."""
    with backend.begin() as tx:
        repository.initialize(tx, "other")
    sequence = tasks[0].sequence
    assert topiq.fails("show", "other", sequence) == (
        5,
        f"there is no task {sequence} in topic 'other'; it is in topic 'topic'",
    )
    code, line = topiq.fails("show", "topic", 10**9)
    assert (code, line.endswith("it may have been purged")) == (5, True)
    assert topiq.fails("show", "topic", "x")[0] == 2
    assert topiq.fails("show", "topic", 2**63)[0] == 2


def test_names_can_not_command_the_terminal(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str
) -> None:
    """Control characters are shown as such, and brackets are no markup."""
    [task] = push(backend, repository, topic, "\x1b[31mred\n[bold]x", input="\x1b]0;title\x07")
    assert "\x1b" not in topiq("list", topic)
    assert "\\x1b[31mred\\n[bold]x" in topiq("list", topic)
    assert "\\x1b]0;title\\x07" in topiq("show", topic, task.sequence)
    assert topiq.json("list", topic)[0]["identifier"] == "\x1b[31mred\n[bold]x"


def test_count_has_a_column_for_each_state_that_occurs(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], tasks: list[Task]
) -> None:
    """A topic without tasks shows zeros; JSON has counts and bounds."""
    with backend.begin() as tx:
        repository.initialize(tx, "empty")
    assert topiq.lines("count") == [
        ["topic", "READY", "FAILED", "SUCCEEDED"],
        ["empty", "0", "0", "0"],
        ["topic", "1", "1", "1"],
    ]
    counted = {
        "topic": {
            "READY": {"count": 1, "bound": tasks[2].sequence},
            "FAILED": {"count": 1, "bound": tasks[0].sequence},
            "SUCCEEDED": {"count": 1, "bound": tasks[1].sequence},
        }
    }
    assert topiq.json("count") == {"empty": {}} | counted
    assert topiq.json("count", "topic") == counted


def test_count_takes_filters(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], tasks: list[Task]
) -> None:
    """State, identifier, bounds and the newest of each identifier."""
    assert list(topiq.json("count", "--state", "READY")["topic"]) == ["READY"]
    assert list(topiq.json("count", "--identifier", "a")["topic"]) == ["FAILED"]
    assert list(topiq.json("count", "--reference", "none")["topic"]) == []
    assert list(topiq.json("count", "--last", tasks[0].sequence)["topic"]) == ["FAILED"]
    assert list(topiq.json("count", "--first", tasks[2].sequence)["topic"]) == ["READY"]
    push(backend, repository, "topic", "a")
    assert topiq.json("count", "--recent")["topic"]["READY"]["count"] == 2
    assert "FAILED" not in topiq.json("count", "--recent")["topic"]


@pytest.mark.usefixtures("tasks")
def test_results_are_counted_in_a_time(topiq: Topiq) -> None:
    """Without one all are counted."""
    assert topiq.lines("results") == [
        ["topic", "FAILURE", "SUSPENSION", "FILTER", "SUCCESS"],
        ["topic", "1", "0", "0", "1"],
    ]
    all_of_them = {"topic": {"FAILURE": 1, "SUCCESS": 1}}
    today = datetime.now(UTC).date()
    assert topiq.json("results") == all_of_them
    assert topiq.json("results", "topic", "--since", "1h", "--until", today + timedelta(days=1)) == all_of_them
    assert topiq.json("results", "--since", today + timedelta(days=1)) == {"topic": {}}
    assert topiq.json("results", "--until", "1h") == {"topic": {}}
    assert topiq.json("results", "--since", today, "--until", today) == all_of_them


@pytest.mark.usefixtures("tasks")
def test_a_date_is_a_whole_day(topiq: Topiq) -> None:
    """Forward from its beginning, backward from its end."""
    today = datetime.now(UTC).date()
    assert len(topiq.json("list", "topic", "--start", today)) == 3
    assert len(topiq.json("list", "topic", "--start", today, "--backward")) == 3


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("command", [["list"], ["show", "1"], ["count"], ["results"], ["explain"], ["watch"]])
def test_a_wrong_topic_gets_a_suggestion(topiq: Topiq, command: list[str]) -> None:
    """No command takes an unknown topic for an empty one."""
    name, *more = command
    assert topiq.fails(name, "topik", *more) == (5, "there is no topic 'topik'; did you mean 'topic'?")


@pytest.mark.parametrize("command", ["count", "results"])
def test_no_topics_are_told(topiq: Topiq, command: str) -> None:
    """Where there are no topics it is said how to make one."""
    assert topiq(command) == "There are no topics; make one with `topiq init TOPIC`.\n"
    assert topiq.json(command) == {}


@pytest.mark.parametrize("state", TaskState)
def test_every_state_is_shown_by_name(
    topiq: Topiq, backend: Backend, repository: TaskRepository[Any], topic: str, state: TaskState
) -> None:
    """Whatever state a task is in, it is listed and counted by its name."""
    [task] = push(backend, repository, topic, "a")
    drive(backend, repository, topic, task, state)
    assert topiq.json("show", topic, task.sequence)["state"] == state.name
    assert topiq.json("count")[topic][state.name]["count"] == 1
    assert state.name in topiq("list", topic)


def test_looking_waits_for_nobody(topiq: Topiq, backend: Backend, topic: str) -> None:
    """A program that has written and not committed holds no look up."""
    writer = backend.open()
    writer.exec_driver_sql("UPDATE task_topic SET topic = topic")
    assert topiq.json("count") == {topic: {}}
    assert failure(invoke("count", "nothing", url=topiq.url))[0] == 5


@pytest.mark.usefixtures("tasks")
@pytest.mark.parametrize("before", [True, False], ids=["before the command", "after it"])
def test_the_database_and_the_form_may_stand_before_the_command(backend: Backend, *, before: bool) -> None:
    """What stands after it counts most, and both more than the environment."""
    options = ["--url", backend.url, "--json"]
    elsewhere = "sqlite:////nowhere/at/all.db"
    arguments = [*options, "topics"] if before else ["--url", elsewhere, "topics", *options]
    result = invoke(*arguments, url=elsewhere)
    assert result.exit_code == 0, result.output
    assert '"topic"' in result.stdout
