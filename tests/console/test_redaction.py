"""Secrets of URLs stay out of everything that is shown."""

from __future__ import annotations

import json
import logging

import pytest
from sqlalchemy import make_url

from task_console.logs import _JsonFormatter, _TextFormatter
from task_console.redaction import one_line, redacted, scrubbed

URL = "postgresql://u:p%40ss%2Fw@h/d?sslpassword=t0p&application_name=x"


def test_urls_are_shown_without_passwords() -> None:
    """Also those that stand among the options."""
    assert redacted(make_url(URL)) == "postgresql://u:***@h/d?application_name=x&sslpassword=***"
    assert redacted(make_url("sqlite:///a.db")) == "sqlite:///a.db"


@pytest.mark.parametrize("text", ["p@ss/w", "p%40ss%2Fw", "t0p", f"can't parse {URL}", "postgresql://a:other@h/d"])
def test_texts_are_shown_without_secrets(text: str) -> None:
    """In whatever spelling they occur, and those of other URLs too."""
    clean = scrubbed(f"before {text} after", make_url(URL))
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    for secret in ("p@ss", "p%40ss", "t0p", "other"):
        assert secret not in clean


def test_texts_without_secrets_are_left() -> None:
    """There may also be no URL at all."""
    assert scrubbed("see https://example.org/a:b for x@y", None) == "see https://example.org/a:b for x@y"
    assert one_line("a\n\tb  c\n") == "a b c"


def test_logs_have_no_secrets() -> None:
    """Neither as text nor as JSON, nor in a trace."""
    try:
        raise ValueError("p@ss/w")  # noqa: EM101, TRY301 - a driver's
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.WARNING, "x.py", 1, "with %s", ("t0p",), (ValueError, error, error.__traceback__)
        )
    text = _TextFormatter(make_url(URL)).format(record)
    value = json.loads(_JsonFormatter(make_url(URL)).format(record))
    assert text.split("\n")[0].endswith("Z WARNING x: with ***")
    assert value["message"] == "with ***"
    assert value["trace"].endswith("ValueError: ***")
    assert "p@ss" not in text
