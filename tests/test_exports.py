"""Each package says what it exports, and the installed packages are whole."""

from __future__ import annotations

import importlib
import inspect
import os
from importlib.metadata import files
from pathlib import Path

import pytest

PACKAGES = ("task_api", "task_console", "task_processor", "task_sql")
ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_and_without_duplicates(package: str) -> None:
    """The table of contents can be read, and compared line by line."""
    names = importlib.import_module(package).__all__
    # Constants, then classes, then the rest: the order that the linter keeps.
    assert names == sorted(set(names), key=lambda name: (_rank(name), name))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_exists(package: str) -> None:
    """What is announced can be imported."""
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_has_a_docstring(package: str) -> None:
    """Classes, functions, modules and the public methods of classes explain themselves."""
    module = importlib.import_module(package)
    undocumented = [] if module.__doc__ else [package]
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            undocumented += [f"{name}.{method}" for method in _undocumented_methods(value, PACKAGES)]
        if (inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)) and not value.__doc__:
            undocumented.append(name)
    assert undocumented == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_installed_package_holds_every_file_of_the_source(package: str) -> None:
    """Modules, the type marker and SQL files all come with the installation."""
    imported = Path(str(importlib.import_module(package).__file__)).parent
    assert _contents(imported) == _contents(ROOT / package)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_is_what_is_tested(package: str) -> None:
    """Under tox the source tree, which would hide mistakes in the packaging, is not on the import path."""
    imported = Path(str(importlib.import_module(package).__file__)).resolve()
    installed = {Path(str(file.locate())).resolve() for file in files("topiq") or ()}
    # A developer's own run may use the source tree: the variable is set by tox alone.
    assert imported in installed or "TOPIQ_TEST_INSTALLED" not in os.environ


def _rank(name: str) -> int:
    if name.isupper():
        return 0
    return 1 if name[0].isupper() else 2


def _undocumented_methods(owner: type, packages: tuple[str, ...]) -> list[str]:
    return [
        name
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property))
        and (getattr(member, "__module__", None) or "").partition(".")[0] in packages
        and not inspect.getdoc(member)
    ]


def _contents(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
