-- SINGULAR_BY_IDENTIFIER
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates_among(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, CAST(%(identifiers)s AS text[]), ARRAY[0], %(single)s, %(again)s) AS sequence

-- SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates_among(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, CAST(%(identifiers)s AS text[]), ARRAY[0, 2, 3], %(single)s, %(again)s) AS sequence

-- SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates_among(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, CAST(%(identifiers)s AS text[]), ARRAY[0, 2, 3, 4], %(single)s, %(again)s) AS sequence
