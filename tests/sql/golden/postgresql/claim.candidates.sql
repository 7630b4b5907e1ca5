-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0], False, %(single)s, %(again)s) AS sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0, 2, 3], False, %(single)s, %(again)s) AS sequence

-- FIRST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0, 2, 3, 4], False, %(single)s, %(again)s) AS sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0], True, %(single)s, %(again)s) AS sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_ON_FAILURE
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0, 2, 3], True, %(single)s, %(again)s) AS sequence

-- LAST_IN_FIRST_OUT SINGULAR_BY_IDENTIFIER_SUSPEND_UNTIL_SUCCESS
SELECT sequence, current_setting('transaction_isolation')
FROM task_candidates(%(topic)s, %(owner)s, %(size)s, %(floor)s, NULL, ARRAY[0, 2, 3, 4], True, %(single)s, %(again)s) AS sequence
