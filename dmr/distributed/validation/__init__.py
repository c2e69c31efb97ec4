"""The exact check of a mesh in parts: each part by a task, and the union by what the parts tell of their borders."""
