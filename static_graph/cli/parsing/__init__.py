"""Argument parsers of all commands. Imports no heavy modules; each command imports what it needs."""
