"""topiq beside hand-written SQL and other queues, on one machine in one run."""
