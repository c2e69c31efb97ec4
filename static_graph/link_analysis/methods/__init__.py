"""The methods of PageRank, one module each: `run(state)` iterates, and returns the seconds of the iterations."""
