"""The version, in one place: between two releases that of the next one, with ".dev0"."""

__version__ = "0.2.0.dev0"
