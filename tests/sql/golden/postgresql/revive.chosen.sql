-- EXPIRED
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 2 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s

-- FAILED
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 3 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s

-- SUSPENDED
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 4 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s

-- FILTERED
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 5 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s

-- SUCCEEDED
SELECT t.sequence, t.identifier FROM task AS t
WHERE t.topic = %(topic)s AND t.state = 6 AND t.sequence BETWEEN %(first)s AND %(last)s
ORDER BY t.sequence LIMIT %(size)s
