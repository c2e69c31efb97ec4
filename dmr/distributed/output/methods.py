"""Names of the ways to divide a mesh; light, because the parser of the command line needs them."""

PARTITIONS = ("hilbert", "metis")
