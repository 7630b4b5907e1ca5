"""The picture of the states shows what happens: the same as the table below it, and as the code."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import NamedTuple

from task_api import REVIVABLE, TaskResult, TaskState
from tests.docs.fences import ROOT

_SVG = "{http://www.w3.org/2000/svg}"
_ROW = re.compile(r"^\| (?P<source>[^|]*)\| (?P<target>[^|]*)\| (?P<by>[^|]*)\|$")
_STATE = re.compile(r"`([A-Z]+)`")


class Edge(NamedTuple):
    """One arrow."""

    source: frozenset[str]
    target: frozenset[str]
    by: str


def _picture() -> ET.Element:
    return ET.parse(ROOT / "docs" / "images" / "states.svg").getroot()  # noqa: S314 - our own file


def _drawn() -> list[Edge]:
    return [
        Edge(frozenset(group.attrib["data-from"].split()), frozenset(group.attrib["data-to"].split()), by)
        for group in _picture().iter(f"{_SVG}g")
        if group.get("class") == "edge"
        for by in group.attrib["data-by"].split()
    ]


def _told() -> list[Edge]:
    content = (ROOT / "docs" / "states.md").read_text(encoding="utf-8")
    section = content.partition("## What leads where")[2].partition("\n## ")[0]
    rows = [match for line in section.splitlines() if (match := _ROW.match(line))]
    return [
        Edge(frozenset(_STATE.findall(row["source"])), frozenset(_STATE.findall(row["target"])), part.split()[0])
        for row in rows[1:]
        for part in re.split(r"; (?=junction)", row["by"].replace(",", "").replace(":", "").replace("; with", " with"))
    ]


def test_picture_and_table_agree() -> None:
    """Each arrow has its row, and each row its arrow."""
    assert sorted(map(repr, map(_sorted, _drawn()))) == sorted(map(repr, map(_sorted, _told())))


def test_every_state_is_drawn_and_told() -> None:
    """No state is missing, and the ordinals are those that are stored."""
    texts = [text.text for text in _picture().iter(f"{_SVG}text") if text.get("class") == "state"]
    content = (ROOT / "docs" / "states.md").read_text(encoding="utf-8")
    ordinals = {
        name: int(value) for name, value in re.findall(r"^\| `([A-Z]+)` \|.*\| (\d) \|$", content, re.MULTILINE)
    }
    assert sorted(str(text) for text in texts) == sorted(TaskState.__members__)
    assert ordinals == {state.name: state.value for state in TaskState}


def test_what_can_be_brought_back_is_drawn_so() -> None:
    """Reset, reassign and recreate begin at the states that the code allows."""
    revivable = frozenset(state.name for state in REVIVABLE)
    results = frozenset(result.state.name for result in TaskResult)
    edges = {edge.by: edge for edge in _drawn()}
    assert edges["reset"] == Edge(revivable, frozenset({"READY"}), "reset")
    assert edges["reassign"] == Edge(revivable, results, "reassign")
    assert edges["recreate"] == Edge(revivable, frozenset({"RECREATED"}), "recreate")
    assert edges["complete"] == Edge(frozenset({"ACTIVE"}), results, "complete")


def _sorted(edge: Edge) -> tuple[list[str], list[str], str]:
    return sorted(edge.source), sorted(edge.target), edge.by
