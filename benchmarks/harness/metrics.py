"""What is measured, and where it is shown."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from .scale import Scale

__all__ = ["MAIN", "Metric", "Table", "metrics"]


class Table(Enum):
    """The tables of a report, by their titles."""

    MAIN = "Push, drain, latency"
    COST = "What a drained task costs"
    BATCHES = "Drain by batch size"
    CHURN = "Drain after many tasks, without and with a snapshot that is held all the while"
    HISTORY = "With finished tasks stored"
    TOPIQ = "Conditions, replacing, junctions, topics"
    PARTS = "Processor time of a task, with parts of the schema taken away"


@dataclass(frozen=True)
class Metric:
    """One figure of a system."""

    key: str
    title: str
    unit: str
    table: Table
    rising: bool = True
    """Whether more is better."""


MAIN: Final = ("push", "bulk", "drain x1", "drain x4", "latency p50")
"""What the chart shows."""


def metrics(scale: Scale) -> list[Metric]:
    """All metrics of a run, in the order of their tables."""
    rate = "/s"
    found = [
        Metric("push", "push one by one", rate, Table.MAIN),
        Metric("bulk", "bulk push", rate, Table.MAIN),
        *(Metric(f"drain x{n}", f"drain, {n} worker{'s' * (n > 1)}", rate, Table.MAIN) for n in scale.workers),
        Metric("latency p50", "latency p50", "ms", Table.MAIN, rising=False),
        Metric("latency p95", "latency p95", "ms", Table.MAIN, rising=False),
        Metric("cost wal", "written to the log", "bytes", Table.COST, rising=False),
        Metric("cost server", "server's processor time", "µs", Table.COST, rising=False),
        Metric("cost client", "worker's processor time", "µs", Table.COST, rising=False),
        *(Metric(f"drain by {n}", f"batches of {n:,}", rate, Table.BATCHES) for n in scale.batches),
    ]
    for batch in scale.churn_batches:
        before = f"after {scale.churn:,}, batches of {batch}"
        found += [
            Metric(f"churn by {batch}", before, rate, Table.CHURN),
            Metric(f"churn by {batch} held", f"{before}, held", rate, Table.CHURN),
        ]
    for number in scale.history:
        stored = f"{number:,} finished"
        found += [
            Metric(f"beside history {number}", "drain right before, none finished", rate, Table.HISTORY),
            Metric(f"history {number}", f"drain, {stored}", rate, Table.HISTORY),
            Metric(f"count {number}", f"count, {stored}", "ms", Table.HISTORY, rising=False),
            Metric(f"page {number}", f"page of 100, {stored}", "ms", Table.HISTORY, rising=False),
            Metric(f"purge {number}", f"purge of {number:,}", rate, Table.HISTORY),
        ]
    found += [
        Metric("beside singular", "drain right before, no condition", rate, Table.TOPIQ),
        Metric("singular", f"SINGULAR, {scale.hot} identifiers", rate, Table.TOPIQ),
        Metric("blocked", f"the same behind {scale.blocked:,} blocked", rate, Table.TOPIQ),
        Metric("supersede", "SUPERSEDE of known", rate, Table.TOPIQ),
        Metric("replace", "REPLACE of known", rate, Table.TOPIQ),
        Metric("junction", "released by junctions of ten", rate, Table.TOPIQ),
        Metric("topics", f"drain of {scale.topics} topics, 1 worker", rate, Table.TOPIQ),
    ]
    for kind, title in (("push", "push one by one"), ("bulk", "bulk push"), ("drain", "drain by calls")):
        found += [
            Metric(f"parts {kind} server", f"{title}, server", "µs", Table.PARTS, rising=False),
            Metric(f"parts {kind} client", f"{title}, client", "µs", Table.PARTS, rising=False),
        ]
    if scale.memory:
        found.append(
            Metric("memory", f"memory after {scale.memory:,} ÷ after a tenth", "times", Table.TOPIQ, rising=False)
        )
    return found
