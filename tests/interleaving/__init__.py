"""
Every order in which the statements of a few transactions can reach PostgreSQL.

``steps`` is a connection that stops before each statement, ``stage`` lets one actor at a time go on, ``exploration``
tries all orders, ``scenario`` is what is played and how its end is judged. What happens inside a statement is left to
the races of ``tests/contention``.
"""
