"""What topiq brings along: few packages, all declared, each with a lower bound and a licence that is known."""

from __future__ import annotations

import ast
import re
import sys
from configparser import ConfigParser
from importlib.metadata import distribution, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = ("task_api", "task_console", "task_processor", "task_sql")
ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("asyncio", "oracle", "postgresql")
DECLARED = {
    "": {"click", "rich", "sqlalchemy"},
    "asyncio": {"aiosqlite", "sqlalchemy"},
    "oracle": {"oracledb"},
    "postgresql": {"psycopg"},
}
"""What is declared, for everybody and for each extra."""
BROUGHT = {
    *("aiosqlite", "cffi", "click", "colorama", "cryptography", "greenlet", "markdown-it-py", "mdurl", "oracledb"),
    *("psycopg", "psycopg-binary", "pycparser", "pygments", "rich", "sqlalchemy", "typing-extensions", "tzdata"),
}
"""All that may come along, with every extra."""
LICENCES = re.compile(r"\b(MIT|BSD|Apache|PSF|Python Software|UPL|LGPL)\b", re.IGNORECASE)


def _requirements() -> list[Requirement]:
    return [Requirement(text) for text in requires("topiq") or ()]


def _applies(requirement: Requirement, extras: tuple[str, ...]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _brought() -> set[str]:
    """Return the names of all packages that come with topiq and its extras here."""
    found: dict[str, set[str]] = {}
    open_ends: list[tuple[str, tuple[str, ...]]] = [("topiq", EXTRAS)]
    while open_ends:
        name, extras = open_ends.pop()
        known = found.setdefault(name, {"?"})
        if set(extras) | {""} <= known:
            continue
        known |= {*extras, ""}
        needed = map(Requirement, distribution(name).requires or ())
        open_ends += [(canonicalize_name(each.name), tuple(each.extras)) for each in needed if _applies(each, extras)]
    return set(found) - {"topiq"}


def test_few_packages_are_needed() -> None:
    """A new one is a decision, which is to be made here too."""
    for extra, names in DECLARED.items():
        found = {
            canonicalize_name(each.name)
            for each in _requirements()
            if (str(each.marker) == f'extra == "{extra}"' if extra else each.marker is None)
        }
        assert found == names, extra


def test_each_has_a_lower_bound_and_no_upper_one() -> None:
    """What is too old is refused by the installer, what is mended can be installed."""
    operators = {each.name: [bound.operator for bound in each.specifier] for each in _requirements()}
    assert {name: found for name, found in operators.items() if found != [">="]} == {}


def test_what_comes_along_is_known() -> None:
    """Packages of packages included; one that is new here deserves a look."""
    assert sorted(_brought() - BROUGHT) == []


def test_the_licence_of_each_is_known() -> None:
    """And lets anybody use topiq as its own licence says; psycopg's asks that it can be replaced, as it can."""
    unknown = {}
    for name in _brought():
        metadata = distribution(name).metadata
        classifiers = [text for text in metadata.get_all("Classifier") or () if text.startswith("License ::")]
        names = [text for key in ("License-Expression", "License") for text in metadata.get_all(key) or ()]
        told = " ".join([*names, *classifiers])
        if not LICENCES.search(told):
            unknown[name] = told
    assert unknown == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_imported_that_is_not_declared(package: str) -> None:
    """Neither by a module nor within a function; what happens to be installed for the tests is no help to a user."""
    declared = {name for names in DECLARED.values() for name in names}
    owners = packages_distributions()
    strange: dict[str, str] = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        for name in _imported(path):
            known = name in sys.stdlib_module_names or name in PACKAGES
            if not known and declared.isdisjoint(map(canonicalize_name, owners.get(name, ()))):
                strange.setdefault(name, path.name)
    assert strange == {}


def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_the_audit_is_there_and_can_not_pass_without_an_answer() -> None:
    """It asks others about known vulnerabilities, so that it is no part of the default run; silence is a failure."""
    tox = ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", "utf-8")
    assert "audit" not in tox["tox"]["env_list"]
    assert tox["testenv:audit"]["commands"].split()[:2] == ["python", "scripts/audit.py"]
    assert '"--strict"' in (ROOT / "scripts" / "audit.py").read_text("utf-8")
