-- SINGULAR_BY_IDENTIFIER
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, ARRAY[0], False, %(single)s, %(again)s) AS sequence

-- SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, ARRAY[0, 2, 3], False, %(single)s, %(again)s) AS sequence

-- SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, %(bound)s, ARRAY[0, 2, 3, 4], False, %(single)s, %(again)s) AS sequence
