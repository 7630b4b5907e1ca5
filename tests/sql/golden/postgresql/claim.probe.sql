SELECT own, oldest, lowest, highest FROM task_probe(%(topic)s, %(floor)s)
