"""Modules that the whole of dmr and static_graph share: errors, argument checks, files, signals, threads, console."""
