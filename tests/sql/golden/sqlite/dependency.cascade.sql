UPDATE task SET state = 3, descent = max(descent, state), output = :message, completed = strftime('%Y-%m-%d %H:%M:%f', 'now')
WHERE sequence IN (SELECT value FROM json_each(:given)) AND topic = :topic AND state = 4
