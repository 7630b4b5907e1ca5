CREATE TEMP TABLE IF NOT EXISTS task_claim (
    sequence INTEGER PRIMARY KEY, token INTEGER NOT NULL, owner TEXT NOT NULL, era INTEGER NOT NULL,
    topic TEXT NOT NULL, identifier TEXT NOT NULL, UNIQUE (topic, identifier, sequence)
)
