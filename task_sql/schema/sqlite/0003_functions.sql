-- topiq, version 3: the tables are those of version 2; PostgreSQL has new functions

UPDATE task_schema SET version = 3;
