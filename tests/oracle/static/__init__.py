"""
Every statement for Oracle, parsed and checked without a server.

A parser of PL/SQL says whether a statement is one; its verdicts are kept in ``verdicts.json``, so that only what is new
has to be parsed. Rules of our own say more, on every run. Neither knows names, types or meaning.

After a change of a statement: ``python -m tests.oracle.static``.
"""
