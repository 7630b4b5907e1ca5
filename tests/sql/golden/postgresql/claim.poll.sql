-- FIRST_IN_FIRST_OUT NONE COMMITTED
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, False, False, %(look)s)

-- FIRST_IN_FIRST_OUT NONE TRANSACTION
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, False, True, %(look)s)

-- LAST_IN_FIRST_OUT NONE COMMITTED
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, True, False, %(look)s)

-- LAST_IN_FIRST_OUT NONE TRANSACTION
SELECT sequence, identifier, input, attempt, token, failed
FROM task_poll(%(topic)s, %(owner)s, %(size)s, %(lease)s, %(floor)s, True, True, %(look)s)
