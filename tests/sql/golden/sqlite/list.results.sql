SELECT topic, state, count(*) FROM task
WHERE state BETWEEN 3 AND 6
AND (:since IS NULL OR completed >= :since) AND (:until IS NULL OR completed <= :until)
GROUP BY topic, state
