SELECT task_initialize(%(topic)s)
