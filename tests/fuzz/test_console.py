"""Every argument of the command line, and what reads people's texts."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from task_console import main
from task_console.cli import COMMANDS
from task_console.errors import Exit
from task_console.moments import parse_due, parse_duration, parse_moment
from task_console.redaction import one_line, scrubbed
from tests.backends.steps import push
from tests.console.calls import invoke
from tests.fuzz.profiles import profile
from tests.fuzz.values import MARK, Values, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from task_api import TaskRepository
    from tests.backends import Backend

# They run until they are stopped, or take away what the others need.
_NOT_CALLED = {"demo", "watch", "work", "schema uninstall"}
words: Values = (
    texts
    | st.sampled_from(["topic", "1", "0", "-1", "99999999999999999999", "1.5", "1e400", "nan", "inf", "-inf", "now"])
    | st.sampled_from(["7d", "1h30m", "9999999999999w", "0001-01-01", "9999-12-31T23:59:59-23:59", "2026-13-45"])
    | st.sampled_from(
        ["--", "-", "--help", "-h", "--yes", "--json", "=", "--url=", "@file", "READY", "ready", "FAILED"]
    )
)


def found(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands with their names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from found(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


CALLED = {name: command for name, command in found(main) if name not in _NOT_CALLED}


@st.composite
def lines(draw: st.DrawFn, command: click.Command) -> list[str]:
    """What somebody types after a command: options with values, good and bad, and arguments."""
    typed: list[str] = []
    for parameter in command.params:
        if parameter.name == "url" or not draw(st.booleans()):
            continue
        if isinstance(parameter, click.Argument):
            number = 1 if parameter.nargs == 1 else draw(st.integers(0, 2))
            typed += [draw(st.sampled_from(["topic", "1"]) | words) for _ in range(number)]
        elif isinstance(parameter, click.Option):
            typed.append(parameter.opts[0])
            if not parameter.is_flag:
                typed.append(draw(words))
    # As the system hands over any bytes: what is not UTF-8 comes as surrogates.
    written = [word.replace("\0", "").encode("utf-8", "surrogatepass") for word in typed]
    return [word.decode("utf-8", "surrogateescape") for word in written]


@pytest.mark.backends("sqlite")
@pytest.mark.kinds("connection")
@pytest.mark.parametrize("name", CALLED)
def test_every_command_ends_in_a_line_and_a_code(
    backend: Backend,
    repository: TaskRepository[Any],
    topic: str,
    *,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A known exit code, no traceback, whatever was typed."""
    monkeypatch.chdir(tmp_path)
    push(backend, repository, topic, "one", "two")

    @profile(8)
    @given(lines(CALLED[name]))
    def check(typed: list[str]) -> None:
        note(f"topiq {name} {typed}")
        result = invoke(*name.split(), *typed, url=backend.url, given="")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in set(Exit)
        assert "Traceback" not in result.output

    check()


def test_every_command_is_called() -> None:
    """What is not, is named, and exists."""
    known = {name for name, _ in found(main)}
    assert known > _NOT_CALLED
    assert {name.partition(" ")[0] for name in known} == {name for section in COMMANDS.values() for name in section}


READERS: Mapping[str, tuple[Callable[[str], object], tuple[type, ...]]] = {
    "duration": (parse_duration, (timedelta,)),
    "moment": (parse_moment, (datetime, date)),
    "due": (parse_due, (datetime, timedelta)),
}
figures: Values = st.text(
    st.sampled_from("0123456789.:-+TZ smhdw\N{ARABIC-INDIC DIGIT ONE}\N{SUPERSCRIPT TWO}"), max_size=24
)


@pytest.mark.parametrize(("read", "kinds"), READERS.values(), ids=READERS)
def test_times_are_read_or_refused(read: Callable[[str], object], kinds: tuple[type, ...]) -> None:
    """A time, or a ValueError that says how one is written."""

    @profile(300)
    @given(words | figures)
    def check(text: str) -> None:
        try:
            value = read(text)
        except ValueError as error:
            note(str(error))
        else:
            assert isinstance(value, kinds)

    check()


@pytest.mark.backends("sqlite")
@pytest.mark.kinds("connection")
def test_lines_of_json_are_pushed_or_refused(backend: Backend, repository: TaskRepository[Any], topic: str) -> None:
    """All of a file or nothing, and one line that says which of its lines is wrong."""
    keys = st.sampled_from(["identifier", "input", "reference", "suspended", "due", "after", "on_abort", "else"])
    value: Values = st.recursive(
        texts | st.none() | st.booleans() | st.integers() | st.floats(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
        max_leaves=3,
    )
    line = st.dictionaries(keys, value).map(json.dumps) | value.map(json.dumps) | words

    @profile(60)
    @given(st.lists(line, max_size=3))
    def check(written: list[str]) -> None:
        before = _number(backend)
        given = "\n".join(written).encode("utf-8", "surrogatepass")
        result = invoke("push", topic, "--from-file", "-", url=backend.url, given=given)  # type: ignore[arg-type]
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in set(Exit)
        assert result.exit_code == 0 or _number(backend) == before

    assert repository.owner
    check()


def _number(backend: Backend) -> int:
    return int(backend.sql("SELECT count(*) FROM task")[0][0])


def test_secrets_are_scrubbed_from_any_text() -> None:
    """Whatever a driver says, the password of the URL is not in it."""

    @profile(200)
    @given(words, words)
    def check(before: str, after: str) -> None:
        text = f"{before}postgresql://user:{MARK}secret@host/name{after}"
        assert f"{MARK}secret" not in one_line(scrubbed(text, None))

    check()
