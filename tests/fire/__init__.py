"""
Everything breaks at once: producers and workers on one database, faults on a schedule, and an audit of every task.

``plan`` is what a run draws from its seed, ``topics`` what the queue is asked to do; ``producer`` and ``worker`` are
what processes run, ``tables`` what they note in their own transactions; ``stage`` sets a database up, ``conductor``
runs it all and strikes with ``faults``; ``evidence`` is what is left in the end, ``auditor`` the rules that it must
obey, ``sabotage`` the ways to break each of them on purpose, ``pace`` and ``report`` the figures.

``python -m tests.fire --help`` tells how to run more of it than the tests do.
"""
