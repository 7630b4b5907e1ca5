SELECT identifier FROM task WHERE topic = %(topic)s AND sequence = ANY (CAST(%(sequences)s AS bigint[]))
