"""Availability of GPUs."""

from __future__ import annotations

from functools import cache

from dmr.memory import devices, open_device


@cache
def gpu_absence() -> str | None:
    """Reason why no GPU can be used; None if one can."""
    cards = [card for card in devices() if card.name != "cpu"]
    if any(card.usable for card in cards):
        return None
    return "; ".join(f"{card.name}: {card.reason}" for card in cards) or "no GPU is here, or PyCUDA is not installed"


def opening(device):
    """A function in place of `open_device`: it returns this device, unless it is asked for the CPU."""
    return lambda name, *threads: open_device(name, *threads) if name == "cpu" else device
