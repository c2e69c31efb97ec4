"""PageRank by every method."""
