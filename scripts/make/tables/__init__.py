"""Tables of the pages, made from the records in docs/results."""
