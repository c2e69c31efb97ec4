"""The methods of list ranking, a module each: `run(successors, heads, lists, ...)` gives a `Ranked`."""
