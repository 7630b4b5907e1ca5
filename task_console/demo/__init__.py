"""A shop that takes orders, writes invoices and sends mails: a whole life of a queue, and a proof at the end."""
