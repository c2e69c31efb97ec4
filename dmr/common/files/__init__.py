"""Reading and writing of files: whole, in pieces that Ctrl-C can interrupt, and never half replaced."""
