"""What the statements of a call cost on PostgreSQL, those inside of functions too."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from task_sql.transaction import DriverTransaction

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

_TELL = """
LOAD 'auto_explain';
SET LOCAL auto_explain.log_min_duration = 0;
SET LOCAL auto_explain.log_nested_statements = on;
SET LOCAL auto_explain.log_analyze = on;
SET LOCAL auto_explain.log_buffers = on;
SET LOCAL auto_explain.log_format = json;
SET LOCAL auto_explain.log_level = notice;
"""
_END = "SET LOCAL auto_explain.log_level = notice"
_TASKS = frozenset({"task", "task_dependency"})
_PARTITION = len("task_") + 32


@dataclass
class Cost:
    """What a call cost."""

    pages: int = 0
    """How many pages were touched."""
    scans: list[str] = field(default_factory=list)
    """The tables of tasks and links that were read from end to end."""


@contextmanager
def explained(connection: psycopg.Connection[Any]) -> Iterator[Cost]:
    """What is executed in this transaction meanwhile, as the server tells when it is done."""
    cost, plans = Cost(), list[dict[str, Any]]()
    execute = DriverTransaction._execute  # noqa: SLF001 - where all statements pass

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        _, told, plan = (notice.message_primary or "").partition("plan:\n")
        if told:
            plans.append(json.loads(plan)["Plan"])

    def explain(self: DriverTransaction, run: Any, statement: str, parameters: Any) -> None:  # noqa: ANN401
        plans.clear()
        execute(self, run, statement, parameters)
        connection.execute(_END)  # a SELECT ends, and is told, when another statement begins
        cost.scans += [name for plan in plans for name in _scans(plan)]
        # The statement itself comes last, and what it touched has all that was touched inside of it.
        cost.pages += sum(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] for plan in plans[-1:])

    connection.execute(_TELL)
    connection.add_notice_handler(hear)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DriverTransaction, "_execute", explain)
            yield cost
        assert cost.pages, "the server told nothing"
    finally:
        connection.remove_notice_handler(hear)


def _scans(node: dict[str, Any]) -> list[str]:
    found = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" and "Relation Name" in node else []
    for child in node.get("Plans", ()):
        found += _scans(child)
    return [name for name in found if name in _TASKS or len(name) == _PARTITION]
