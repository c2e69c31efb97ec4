"""What is downloaded of a refined tile: its core, its margin, and how the next band divides that."""
