"""The function of a detached process, found by its name."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from task_api import InvalidTaskError

from ..signature import wants_second

__all__ = ["load_function"]


def load_function(target: str) -> Callable[..., Any]:
    """
    Return what ``module:function`` means, if it can be called with a task, or a task and its checkpoint.

    Raises:
        InvalidTaskError: it can't, or it can't be imported.

    """
    module, _, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not module or not name:
        message = f"a function is named as in 'package.module:function', so that a process can import it: {target!r}"
        raise InvalidTaskError(message)
    if module == "__main__":
        message = f"{target!r}: name the module as others import it; a new process has another __main__"
        raise InvalidTaskError(message)
    found: Any = _imported(module)
    for part in name.split("."):
        if not hasattr(found, part):
            message = f"{target!r}: {getattr(found, '__name__', found)!r} has no {part!r}"
            raise InvalidTaskError(message)
        found = getattr(found, part)
    if not callable(found):
        message = f"{target!r} is of type {type(found).__name__}, not a function"
        raise InvalidTaskError(message)
    _check(target, found)
    return found  # type: ignore[no-any-return]


def _imported(module: str) -> Any:  # noqa: ANN401 - a module or a package
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        message = f"module {module!r} can't be imported: {type(error).__name__}: {error}"
        raise InvalidTaskError(message) from error


def _check(target: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions do not say
        return
    try:
        signature.bind(*["task", "checkpoint"][: 1 + wants_second(function)])
    except TypeError as error:
        message = f"{target!r} must take (task) or (task, checkpoint), not {signature}"
        raise InvalidTaskError(message) from error
