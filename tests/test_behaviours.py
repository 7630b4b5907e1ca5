"""Every specified behaviour is answered by a test or by a documented decision."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def behaviours() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("behaviours", ROOT / "scripts" / "behaviours.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three behaviours, of which a test names one and the documentation another."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests" / "behaviours.txt").write_text("PO-01\nPO-02\nPO-B1\n")
    source = 'def test_one():\n    """Say one thing (CO-09, PO-01)."""\n\n\ndef helper():\n    """PO-02."""\n'
    (tmp_path / "tests" / "test_poll.py").write_text(source)
    (tmp_path / "docs" / "behaviours.md").write_text("| id | how |\n|---|---|\n| PO-B1 | by design |\n| PO-02 | |\n")
    return tmp_path


def test_every_behaviour_is_answered(behaviours: ModuleType) -> None:
    """No specified behaviour is without a test that names it or a line that says how it is answered."""
    assert behaviours.missing() == []


def test_every_documented_behaviour_is_specified(behaviours: ModuleType) -> None:
    """The documentation answers no behaviour that does not exist."""
    assert behaviours.unknown() == []


def test_a_behaviour_without_test_and_reason_is_missing(behaviours: ModuleType, project: Path) -> None:
    """Only docstrings of tests and rows with a reason count."""
    assert behaviours.missing(project) == ["PO-02"]
