"""Batch functions for tasks that occur several times in a batch."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter

from task_api import Task, TaskDecision

__all__ = ["DuplicateFilter"]

_DEFAULT = attrgetter("identifier")


class DuplicateFilter:
    """Makes batch functions that sort out tasks of one batch that are about the same thing."""

    @staticmethod
    def outdated(
        criterion: Callable[[Task], Hashable] = _DEFAULT, *, decision: TaskDecision = TaskDecision.FILTER
    ) -> Callable[[Sequence[Task]], dict[Task, TaskDecision]]:
        """Let only the newest of each kind succeed; the others get the decision, FILTER by default."""

        def run(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
            newest = {criterion(task): task for task in sorted(tasks)}
            return {task: TaskDecision.SUCCESS if newest[criterion(task)] == task else decision for task in tasks}

        return run

    @staticmethod
    def all(
        criterion: Callable[[Task], Hashable] = _DEFAULT, *, decision: TaskDecision = TaskDecision.FAILURE
    ) -> Callable[[Sequence[Task]], dict[Task, TaskDecision]]:
        """Give every task of a kind that occurs several times the decision, FAILURE by default."""

        def run(tasks: Sequence[Task]) -> dict[Task, TaskDecision]:
            groups = defaultdict[Hashable, list[Task]](list)
            for task in tasks:
                groups[criterion(task)].append(task)
            return {
                task: TaskDecision.SUCCESS if len(group) == 1 else decision
                for group in groups.values()
                for task in group
            }

        return run
