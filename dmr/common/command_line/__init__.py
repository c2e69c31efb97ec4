"""Modules that the command lines of dmr and static_graph share: parser, console, signals, exit codes."""
