SELECT identifier FROM task WHERE topic = %(topic)s AND sequence = ANY (%(sequences)s)
