"""Study of PageRank."""
