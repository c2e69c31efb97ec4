"""Divides a refined tile into its core and its margin, and the margin for the next band, and downloads them."""
