WITH chosen AS MATERIALIZED (
    SELECT t.sequence FROM task AS t WHERE t.topic = %(topic)s ORDER BY t.sequence FOR UPDATE
)
DELETE FROM task AS t WHERE t.topic = %(topic)s AND t.sequence = ANY (ARRAY(SELECT sequence FROM chosen))
