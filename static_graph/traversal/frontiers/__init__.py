"""The default traversals, based on a frontier: the list of nodes whose edges are followed next."""
