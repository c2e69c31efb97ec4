"""Parts that several commands share: console, progress bar, input and output files."""
