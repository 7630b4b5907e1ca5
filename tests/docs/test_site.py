"""The site is built without a warning, and what it says about the project holds."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs.fences import PAGES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("task_api", "task_sql", "task_processor")
_DIRECTIVE = re.compile(r"^::: (\w+)\.(\w+)$", re.MULTILINE)
_TEST_FILE = re.compile(r"`(tests/[\w/]+\.\w+)`")
_FOREIGN = re.compile(r"<(?:script|link|img)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]*\"")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as strictly as there is."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    options = ["--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(folder)]
    result = subprocess.run(  # noqa: S603 - our own site
        [*command, *options], cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )
    # Not made quiet: mkdocs counts the warnings that it prints.
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.mark.timeout(300)
def test_the_site_has_every_page(site: Path) -> None:
    """Each page of docs is a page of the site, and the pictures are there."""
    pages = [page.relative_to(ROOT / "docs").with_suffix("") for page in PAGES if page.name != "README.md"]
    expected = [site / page / "index.html" if page.name != "index" else site / "index.html" for page in pages]
    assert [path for path in [*expected, site / "images" / "states.svg"] if not path.is_file()] == []


@pytest.mark.timeout(300)
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    """It can be read without a network."""
    foreign = {
        path.relative_to(site).as_posix(): found
        for path in site.glob("**/*.html")
        if (found := _FOREIGN.findall(path.read_text(encoding="utf-8")))
    }
    assert foreign == {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_site_describes_every_name(site: Path, package: str) -> None:
    """What a directive names is found and rendered."""
    html = (site / "reference" / package / "index.html").read_text(encoding="utf-8")
    directives = _DIRECTIVE.findall((ROOT / "docs" / "reference" / f"{package}.md").read_text(encoding="utf-8"))
    assert [name for _, name in directives if f'id="{package}.{name}"' not in html] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_export_is_in_the_reference(package: str) -> None:
    """A name that a package exports stands on its page of the reference, once; others do not."""
    content = (ROOT / "docs" / "reference" / f"{package}.md").read_text(encoding="utf-8")
    described = sorted(name for _, name in _DIRECTIVE.findall(content))
    module = importlib.import_module(package)
    passed_on = set(importlib.import_module("task_api").__all__) if package != "task_api" else set()
    assert described == sorted(set(module.__all__) - passed_on)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tests_that_are_named_exist(page: Path) -> None:
    """A page that says which test proves something names a test that is there."""
    named = _TEST_FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).is_file()] == []
