"""Tasks over a shared folder: their names, their outputs, and the engines that run them."""
