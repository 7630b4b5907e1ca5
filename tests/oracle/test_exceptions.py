"""What can't run on the double is a short list, and up to date."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.oracle.exceptions import EXCEPTIONS

ROOT = Path(__file__).resolve().parent.parent.parent


def test_there_are_few() -> None:
    """The double is of use as long as almost everything runs on it."""
    assert len(EXCEPTIONS) < 10


def test_each_names_a_test() -> None:
    """A test that was renamed or removed takes its exception with it."""
    for name, reason in EXCEPTIONS.items():
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
        assert reason, name
