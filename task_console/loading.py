"""Finding what the user wrote: a worker, or a function that makes one."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from task_processor import Worker

from .errors import Exit, Failure
from .redaction import one_line, scrubbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import URL, Engine

__all__ = ["load", "made"]


def load(target: str, url: URL | None) -> object:
    """Import what ``module:name`` means, with the present folder first; without a name it is ``worker``."""
    module, _, name = target.partition(":")
    if not all(module.split(".")):
        message = f"{target!r} names no module; name the worker as in topiq work shop:worker"
        raise Failure(message, Exit.USAGE)
    if module.endswith(".py"):
        message = f"a module is named without .py; write topiq work {module.removesuffix('.py')}:{name or 'worker'}"
        raise Failure(message, Exit.USAGE)
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: object = importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            message = f"there is no module {module!r} in {folder}, nor where Python looks"
            raise Failure(message, Exit.USAGE) from error
        raise _broken(module, "can't be imported", error, url) from error
    for part in (name or "worker").split("."):
        if not hasattr(found, part):
            message = f"{module} has no {part!r}; name the worker as in topiq work {module}:worker"
            raise Failure(message, Exit.USAGE)
        found = getattr(found, part)
    return found


def made(target: str, found: object, engine: Callable[[], Engine], url: URL | None) -> Worker[Any]:
    """Return the worker that was found, or that a function makes, with the engine if it takes one."""
    if callable(found) and not isinstance(found, Worker):
        try:
            arguments = [engine()] if _takes_one(found) else []
        except (TypeError, ValueError) as error:
            message = f"{target} can't make a worker: {error}"
            raise Failure(message, Exit.USAGE) from error
        try:
            found = found(*arguments)
        except Exception as error:
            raise _broken(target, "failed", error, url) from error
    if not isinstance(found, Worker):
        message = (
            f"{target} is of type {type(found).__name__}, not a task_processor.Worker nor a function that makes one"
        )
        raise Failure(message, Exit.USAGE)
    return found


def _takes_one(function: Callable[..., object]) -> bool:
    required = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if len(required) > 1:
        message = f"it takes {len(required)} arguments; it may take none, or the engine"
        raise TypeError(message)
    return bool(required)


def _broken(name: str, what: str, error: Exception, url: URL | None) -> Failure:
    """Say in one line what the user's code raised, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    text = one_line(scrubbed(f"{type(error).__name__}: {error}", url))
    return Failure(f"{name} {what}: {text}{where}")
