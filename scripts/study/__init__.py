"""Studies of the papers' strategies, with tables and pictures."""
