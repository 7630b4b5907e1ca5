COPY task (topic, sequence, identifier, input, reference, state) FROM STDIN
