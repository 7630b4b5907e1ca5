-- COMMITTED
UPDATE task AS t SET input = %(input)s
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND t.state = 0 AND t.owner = %(owner)s AND t.token = %(token)s

-- TRANSACTION
UPDATE task AS t SET input = %(input)s
WHERE t.topic = %(topic)s AND t.sequence = %(sequence)s AND t.state = 1 AND t.token = %(token)s - 1
AND t.sequence = ANY (CAST(string_to_array(nullif(current_setting('topiq.claimed', true), ''), ',') AS bigint[]))
