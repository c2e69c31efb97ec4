"""The steps of a round, one module per step: what it launches, and the arrays that it works on."""
