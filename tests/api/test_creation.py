"""TaskCreation: what can be pushed, and what is refused before any statement runs."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from task_api import InvalidTaskError, TaskCreation, TaskError

BLANKS = ["", " ", "\t\n", " \r\n "]


def test_defaults() -> None:
    """An identifier is enough."""
    creation = TaskCreation("a")

    assert (creation.input, creation.reference, creation.suspended, creation.due) == (None, None, False, None)


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
@pytest.mark.parametrize("field", ["input", "reference"])
def test_blank_texts_are_absent(field: str, blank: str) -> None:
    """Input and reference that are empty or only blanks count as missing (IN-12)."""
    creation = TaskCreation("a", **{field: blank})  # type: ignore[arg-type]

    assert getattr(creation, field) is None


def test_texts_keep_their_own_blanks() -> None:
    """Only wholly blank texts are absent; all others stay as they are (IN-12)."""
    assert TaskCreation("a", input="  x\n").input == "  x\n"


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        (TaskCreation("a", "in"), True),
        (TaskCreation("a", "in", reference="elsewhere"), True),
        (TaskCreation("a", "in", suspended=True), True),
        (TaskCreation("a", "in", due=timedelta(1)), True),
        (TaskCreation("b", "in"), False),
        (TaskCreation("a", "other"), False),
        (TaskCreation("a"), False),
    ],
    ids=["same", "reference", "suspended", "due", "identifier", "input", "no input"],
)
def test_equality_goes_by_identifier_and_input(*, other: TaskCreation, equal: bool) -> None:
    """Reference, suspension and due time do not matter for equality or hash (IN-13)."""
    creation = TaskCreation("a", "in", reference="here")

    assert (creation == other, hash(creation) == hash(other)) == (equal, equal)


def test_a_creation_is_immutable() -> None:
    """No field can be assigned (IN-13)."""
    with pytest.raises(FrozenInstanceError):
        TaskCreation("a").input = "other"  # type: ignore[misc]


def test_with_forms_return_changed_copies() -> None:
    """Each with-form changes its one field on a copy (IN-13)."""
    creation = TaskCreation("a")
    copy = creation.with_input("in").with_reference("ref").with_suspended().with_due(timedelta(1))

    assert (copy.identifier, copy.input, copy.reference, copy.suspended, copy.due) == (
        "a",
        "in",
        "ref",
        True,
        timedelta(1),
    )
    assert (creation.input, creation.reference, creation.suspended, creation.due) == (None, None, False, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"identifier": "i" * 500},
        {"identifier": "\N{GRINNING FACE}" * 500},
        {"reference": "r" * 500},
        {"input": "x" * 100_000},
        {"due": datetime(2000, 1, 1, tzinfo=UTC)},
        {"due": timedelta(0)},
        {"due": timedelta(days=-1)},
    ],
    ids=["identifier", "4-byte characters", "reference", "input", "past", "now", "ago"],
)
def test_limits_are_counted_in_characters_and_inclusive(fields: dict[str, Any]) -> None:
    """The widest names, input of any length and any aware due time are accepted (ST-13)."""
    creation = TaskCreation(**{"identifier": "a"} | fields)

    assert {name: getattr(creation, name) for name in fields} == fields


WRONG: dict[str, dict[str, Any]] = {
    "empty identifier": {"identifier": ""},
    "blank identifier": {"identifier": " \t"},
    "over-long identifier": {"identifier": "i" * 501},
    "identifier with a NUL": {"identifier": "a\0b"},
    "identifier with a lone surrogate": {"identifier": "a\ud800b"},
    "identifier of a wrong type": {"identifier": 1},
    "identifier that is bytes": {"identifier": b"a"},
    "no identifier": {"identifier": None},
    "over-long reference": {"reference": "r" * 501},
    "reference of a wrong type": {"reference": 1},
    "input of a wrong type": {"input": {"json": "object"}},
    "input that is bytes": {"input": b"a"},
    "naive due": {"due": datetime(2024, 1, 1)},  # noqa: DTZ001
    "due of a wrong type": {"due": 3600},
    "due as text": {"due": "2024-01-01T00:00:00Z"},
    "suspended of a wrong type": {"suspended": "no"},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_wrong_fields_are_refused_at_once(fields: dict[str, Any]) -> None:
    """A creation that could never be stored cannot even be made (IN-B7, ST-13)."""
    with pytest.raises(InvalidTaskError):
        TaskCreation(**{"identifier": "a"} | fields)


def test_the_error_is_a_task_error_and_a_value_error() -> None:
    """Callers catch it as either."""
    assert issubclass(InvalidTaskError, (TaskError,))
    assert issubclass(InvalidTaskError, (ValueError,))
