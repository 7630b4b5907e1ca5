"""
Workers as people run them: real processes on one database, killed, stopped and cut off in the midst of their work.

``member`` is the program that each process runs, by an ``assignment``; ``crew`` starts, kills and ends them;
``effects`` is the table that their handlers write to, in the transactions that decide the tasks; ``audit`` compares
both in the end.
"""
