"""Every block of README.md and docs runs, page by page, as a reader would do it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy
from psycopg import sql

from tests.docs import play
from tests.docs.fences import PAGES, ROOT, commands, databases, fences

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_RUN = 8
_LINK = re.compile(r"\[[^\]]+\]\((?!https?://)([^)#]+)")
_FROM_SOURCE = re.compile(r"pip install \"?\.")
_SCRIPTS = [
    (page, database)
    for page in PAGES
    for database in databases(page.read_text(encoding="utf-8"))
    if fences(page.read_text(encoding="utf-8"))
]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def empty_database(postgresql_url: str) -> Iterator[str]:
    """The URL of an empty database on the test server."""
    name = f"topiq_docs_{uuid4().hex[:12]}"
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield sqlalchemy.make_url(postgresql_url).set(database=name).render_as_string(hide_password=False)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("page", "database"), _SCRIPTS, ids=[f"{_name(page)}-{database}" for page, database in _SCRIPTS]
)
def test_a_page_runs_as_it_stands(page: Path, database: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """All blocks of a page run in an empty folder without a warning, and print what the page shows."""
    url = [request.getfixturevalue("empty_database")] if database == "postgresql" else []
    # An engine's pool may hold connections to the end of a program: that is no mistake of the example's.
    warnings = ["-W", "error", "-W", "ignore::ResourceWarning"]
    result = subprocess.run(  # noqa: S603 - our own pages
        [sys.executable, *warnings, play.__file__, str(page), *url],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_few_blocks_are_not_run() -> None:
    """What is not run says why, and is the exception."""
    found = [
        (_name(page), fence.line, fence.reason)
        for page in PAGES
        for fence in fences(page.read_text(encoding="utf-8"))
        if fence.reason is not None
    ]
    assert len(found) <= _NOT_RUN, found


def test_every_file_that_a_page_writes_is_used_below() -> None:
    """A block with a title is a file that a later block of its page names, so that it is run by that."""
    unused = []
    for page in PAGES:
        blocks = fences(page.read_text(encoding="utf-8"))
        for index, fence in enumerate(blocks):
            if fence.title is None or fence.reason:
                continue
            name = re.compile(rf"\b{re.escape(Path(fence.title).stem)}\b")
            if not any(name.search(later.body) for later in blocks[index + 1 :]):
                unused.append((_name(page), fence.title))
    assert unused == []


def test_every_output_belongs_to_a_block() -> None:
    """A block of text is what the block before it prints, so that it is compared."""
    stray = []
    for page in PAGES:
        before = None
        for fence in fences(page.read_text(encoding="utf-8")):
            if fence.language == "text" and not fence.reason and before not in ("python", "sql"):
                stray.append((_name(page), fence.line))
            before = None if fence.title or fence.reason else fence.language
    assert stray == []


def test_readme_shows_the_two_commands() -> None:
    """A reader can try it and check it with one line each."""
    blocks = fences((ROOT / "README.md").read_text(encoding="utf-8"))
    typed = [command.text for fence in blocks if fence.language == "console" for command in commands(fence)]
    assert "pip install . && topiq demo" in typed
    assert "pip install tox && tox" in typed


@pytest.mark.parametrize("page", PAGES[1:], ids=_name)
def test_an_installation_says_in_which_folder(page: Path) -> None:
    """A reader of the docs is elsewhere by then; what is installed from ``.`` is told where that is."""
    lines = page.read_text(encoding="utf-8").splitlines()
    unplaced = [
        fence.line
        for fence in fences("\n".join(lines))
        if fence.language == "console" and any(_FROM_SOURCE.match(command.text) for command in commands(fence))
        if "folder of topiq's source" not in "\n".join(lines[: fence.line - 2]).rpartition("\n## ")[2]
    ]
    assert unplaced == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that exists, also where the page is read outside of the site."""
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
