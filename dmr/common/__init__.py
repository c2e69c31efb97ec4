"""Modules that the whole of dmr and static_graph share: errors, argument checks, files, signals, threads, console."""

from dmr._version import __version__ as __version__
