"""The default traversals, by a frontier: the list of the nodes whose edges are to be followed next."""
