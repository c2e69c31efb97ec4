"""The engine for the triply nested loop of graph algorithms (`cuda_src/graph/engine/engine.cuh`), and its bodies."""
