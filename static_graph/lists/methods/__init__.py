"""The methods of list ranking, one module each: `run(successors, heads, lists, ...)` returns a `Ranked`."""
