DELETE FROM task WHERE topic = :topic
