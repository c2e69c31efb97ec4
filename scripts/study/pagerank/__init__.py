"""Study of list ranking."""
