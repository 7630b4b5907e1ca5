SELECT task_initialize(%(topic)s), task_plan()
