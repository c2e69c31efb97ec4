"""Availability of GPUs."""

from __future__ import annotations

from functools import cache

from dmr.memory import devices


@cache
def gpu_absence() -> str | None:
    """Reason why no GPU can be used; None if one can."""
    cards = [card for card in devices() if card.name != "cpu"]
    if any(card.usable for card in cards):
        return None
    return "; ".join(f"{card.name}: {card.reason}" for card in cards) or "no GPU is here, or PyCUDA is not installed"
