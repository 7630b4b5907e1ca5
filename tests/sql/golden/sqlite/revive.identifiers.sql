SELECT identifier FROM task WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic
