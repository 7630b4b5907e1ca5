"""A wrong URL, no server, no schema: each is one helpful line and the documented exit code, without a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from task_console.cli import COMMANDS
from task_console.errors import EXIT_CODES
from tests.console.calls import failure, invoke

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.calls import Topiq

CALLS: dict[str, list[str]] = {
    "init": ["init", "orders"],
    "push": ["push", "orders", "a"],
    "topics": ["topics"],
    "count": ["count"],
    "list": ["list", "orders"],
    "show": ["show", "orders", "1"],
    "results": ["results"],
    "slots": ["slots", "orders"],
    "owners": ["owners"],
    "watch": ["watch"],
    "explain": ["explain", "orders"],
    "pause": ["pause", "orders"],
    "resume": ["resume", "orders"],
    "revive": ["revive", "orders", "1"],
    "reassign": ["reassign", "orders", "1", "--to", "SUCCESS"],
    "release": ["release", "orders", "1"],
    "eject": ["eject", "orders", "1"],
    "expire": ["expire"],
    "purge": ["purge", "orders", "--before", "now"],
    "destroy": ["destroy", "orders"],
    "schema": ["schema", "version"],
}
"""A call of every command that takes its database from a URL and needs the schema."""
SERVERLESS = "postgresql://nobody:s3cret@127.0.0.1:1/none"


def test_every_command_is_called_here() -> None:
    """The demo, a worker and detached processes have tests of their own."""
    names = {name for section in COMMANDS.values() for name in section}
    assert names - {"demo", "work", "detached"} == set(CALLS)


@pytest.mark.parametrize("command", CALLS)
def test_no_url(command: str) -> None:
    """Both ways to give one are named."""
    code, line = failure(invoke(*CALLS[command]))
    assert code == 2
    assert line.startswith("no database: pass --url or set TOPIQ_URL, for example sqlite:///topiq.db or postgresql://")


@pytest.mark.parametrize("command", CALLS)
def test_no_server(command: str) -> None:
    """The address is named, and the password is not."""
    code, line = failure(invoke(*CALLS[command], url=SERVERLESS))
    assert code == 3
    assert line.startswith("can't reach postgresql://nobody:***@127.0.0.1:1/none: ")
    assert "s3cret" not in line
    assert "Background on this error" not in line


@pytest.mark.kinds("connection")
@pytest.mark.backends("sqlite", "postgresql")
@pytest.mark.parametrize("command", CALLS)
def test_no_schema(topiq: Topiq, command: str) -> None:
    """The command that installs it is named."""
    topiq("schema", "uninstall", "--yes")
    assert topiq.fails(*CALLS[command]) == (
        4,
        "there is no topiq schema in this database; install it with `topiq schema install`",
    )


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "the URL can't be read; write for example sqlite:///topiq.db"),
        ("postgresql://u:p@s3cret:x@host/name", "the URL can't be read; in a password, write @ as %40"),
        ("postgresql://u:p@s3cret@host/name", "the URL can't be read; in a password, write @ as %40"),
        ("mysql://u:s3cret@host/name", "there is no repository for 'mysql', only for "),
        ("sqlite://", "a database in memory ends with the command; name a file"),
        ("sqlite://b.db", "a file has three slashes before it; write sqlite:///b.db"),
        ("sqlite://folder/b.db", "a file has three slashes before it; write sqlite:///folder/b.db"),
        ("postgres://u:s3cret@host/name", "there is no repository for 'postgres'; write postgresql://..."),
        ("POSTGRESQL+psycopg://u:s3cret@host/x", "there is no repository for 'POSTGRESQL'; write postgresql://..."),
        ("SQLite:///b.db", "there is no repository for 'SQLite'; write sqlite://..."),
        ("sqlite:///:memory:", "a database in memory ends with the command; name a file"),
        ("   ", "no database: pass --url"),
        ("sqlite:///\udcff.db", "the URL must be valid Unicode"),
        ("sqlite:///b.db?timeout=abc", "the URL's options can't be read: could not convert string to float: 'abc'"),
    ],
)
def test_a_url_that_names_no_database(url: str, reason: str) -> None:
    """It is not repeated, since a password may be anywhere in it."""
    code, line = failure(invoke("topics", "--url", url))
    assert (code, line[: len(reason)]) == (2, reason)
    assert "s3cr" not in line


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret@127.0.0.1:1/x?sslmode=nonsense",
        "postgresql://u:a/s3cret?b@127.0.0.1:1/x",
        "postgresql://u@127.0.0.1:1/x?password=s3cret",
        "postgresql://u@127.0.0.1:1/x?sslpassword=s3cret&nonsense=1",
        "postgresql://u:%73%33cret@127.0.0.1:1/x",
    ],
)
def test_a_secret_is_never_repeated(url: str) -> None:
    """Wherever it stands in the URL, and whatever the driver says about it."""
    code, line = failure(invoke("topics", "--url", url))
    assert code == 3
    assert "s3cret" not in line
    assert "***" in line or "password" not in url


def test_a_path_is_no_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The URL that is meant is offered."""
    (tmp_path / "shop.db").touch()
    monkeypatch.chdir(tmp_path)
    code, line = failure(invoke("topics", "--url", "shop.db"))
    assert (code, line) == (2, "a URL is needed, not a path; write sqlite:///shop.db")


def test_files_that_are_no_databases(tmp_path: Path) -> None:
    """A file that is something else, or is not there, or in a folder that is not there."""
    path = tmp_path / "text.db"
    path.write_text("This is no database, but it is long enough to be taken for the beginning of one." * 20)
    assert failure(invoke("topics", "--url", f"sqlite:///{path}")) == (
        3,
        f"can't reach sqlite:///{path}: file is not a database",
    )
    missing = tmp_path / "missing" / "x.db"
    assert failure(invoke("topics", url=f"sqlite:///{missing}")) == (3, f"there is no folder {missing.parent}")
    code, line = failure(invoke("schema", "install", url=f"sqlite:///{missing}"))
    assert (code, line) == (3, f"can't reach sqlite:///{missing}: unable to open database file")


@pytest.mark.kinds("connection")
@pytest.mark.backends("postgresql")
def test_a_database_that_does_not_exist(topiq: Topiq) -> None:
    """What the server says is passed on, in one line."""
    url = topiq.url.replace("/topiq_", "/none_")
    code, line = failure(invoke("topics", url=url))
    assert code == 3
    assert line.endswith("does not exist")


@pytest.mark.kinds("connection")
@pytest.mark.backends("sqlite", "postgresql")
def test_a_url_of_another_driver_will_do(topiq: Topiq) -> None:
    """An application that is asynchronous has such a URL at hand."""
    scheme, _, rest = topiq.url.partition("://")
    for driver in ("aiosqlite",) if scheme.startswith("sqlite") else ("asyncpg", "psycopg_async"):
        url = f"{scheme.partition('+')[0]}+{driver}://{rest}"
        assert invoke("topics", "--json", url=url).stdout == "[]\n"


def test_a_driver_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is named."""
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    code, line = failure(invoke("topics", url=SERVERLESS))
    assert code == 3
    assert line.endswith("is not installed; install it with: pip install 'topiq[postgresql]'")


def test_an_option_is_stronger_than_the_environment(tmp_path: Path) -> None:
    """And is found wherever it stands."""
    code, line = failure(invoke("topics", "--url", f"sqlite:///{tmp_path}/x.db", url=SERVERLESS))
    assert code == 3
    assert line.startswith("there is no file")


@pytest.mark.parametrize("command", ["topics", "demo"])
def test_an_empty_url_is_no_other(tmp_path: Path, command: str) -> None:
    """As of a variable that is not set: neither the environment's is taken, nor a file made."""
    for arguments in ((command, "--url", ""), ("--url", "", command)):
        code, line = failure(invoke(*arguments, url=f"sqlite:///{tmp_path}/x.db"))
        assert (code, line.partition(":")[0]) == (2, "no database")


def test_every_exit_code_is_documented() -> None:
    """In the help, with its meaning."""
    words = " ".join(invoke("--help").stdout.split())
    for code, meaning in EXIT_CODES.items():
        assert f"{code:d} {meaning}" in words
