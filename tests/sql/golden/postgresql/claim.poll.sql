-- FIRST_IN_FIRST_OUT NONE COMMITTED
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, False, False)

-- FIRST_IN_FIRST_OUT NONE TRANSACTION
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, False, True)

-- LAST_IN_FIRST_OUT NONE COMMITTED
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, True, False)

-- LAST_IN_FIRST_OUT NONE TRANSACTION
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, True, True)
