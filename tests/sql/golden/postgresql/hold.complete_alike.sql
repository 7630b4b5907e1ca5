-- COMMITTED
SELECT number, awaited FROM task_decide(
    %(topic)s, %(owner)s, CAST(%(sequences)s AS bigint[]), %(token)s, CAST(%(state)s AS smallint), %(output)s,
    coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval)))

-- TRANSACTION
SELECT number, awaited FROM task_decide_claimed(
    %(topic)s, %(owner)s, CAST(%(sequences)s AS bigint[]), %(token)s, CAST(%(state)s AS smallint), %(output)s,
    coalesce(CAST(%(due)s AS timestamptz), statement_timestamp() + CAST(%(delay)s AS interval)))
