SELECT task_push(
    %(topic)s, %(identifier)s, %(input)s, %(reference)s, CAST(%(state)s AS smallint),
    coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval)), %(notify)s)
