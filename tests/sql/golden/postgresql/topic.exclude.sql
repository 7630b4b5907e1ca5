SELECT pg_advisory_xact_lock(hashtextextended(%(topic)s, 2))
