"""Parsers of option values, for `type=` of argparse. They refuse a value by ArgumentTypeError."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError


def file_name(text: str) -> str:
    """Parses a file name. An unset shell variable gives an empty one, which the system takes for a folder."""
    if not text.strip():
        raise ArgumentTypeError("the name of the file is empty")
    return text


def label(text: str) -> str:
    """Parses the name of something other than a file."""
    if not text:
        raise ArgumentTypeError("the name is empty")
    return text


def number(text: str) -> float:
    """Parses a real number."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


def count(text: str) -> int:
    """Parses an integer of 0 or more; 1_000_000 and 1e6 are accepted."""
    return _whole(text, 0, "non-negative")


def positive(text: str) -> int:
    """Parses an integer of 1 or more, in the same forms."""
    return _whole(text, 1, "positive")


def _whole(text: str, least: int, kind: str) -> int:
    try:
        value = int(text) if re.fullmatch(r"\d[\d_]*", text) else float(text)
    except ValueError:
        value = -1
    if not (value >= least and value == value // 1):
        raise ArgumentTypeError(f"{text!r} is not a {kind} whole number")
    return int(value)


def device(text: str) -> str:
    """Parses the name of a device."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise ArgumentTypeError(f"{text!r} is not one of auto, cpu, cuda, cuda:0, cuda:1, ...")
    return text
