"""Study of load-balanced traversals."""
