SELECT task_push(%(topic)s, %(identifier)s, %(input)s, NULL, CAST(1 AS smallint), NULL, %(notify)s)
