"""The `export` command."""

from __future__ import annotations

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments
from dmr.common.text import counted, naming_flags
from static_graph.cli.inputs import read_graph
from static_graph.io import write_partitioned


def run(arguments: Arguments, console: Console) -> int:
    """Reads a graph and writes its edges as a folder of files."""
    graph = read_graph(arguments)
    with naming_flags({**arguments.flags, "overwrite": "-f"}):
        written = write_partitioned(arguments.output, graph, files=arguments.files, overwrite=arguments.force)
    console.note(f"wrote {counted(graph.edges, 'edge')} to {counted(len(written), 'file')} in {arguments.output}")
    if arguments.json:
        files = [str(path) for path in written]
        console.emit_json({"file": str(arguments.graph), "edges": graph.edges, "output": files})
    return 0
