"""Checks of the angle and size bounds, and of the reasons for exceptions."""
