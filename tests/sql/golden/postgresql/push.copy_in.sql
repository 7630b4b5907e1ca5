COPY task (topic, sequence, identifier, input) FROM STDIN
