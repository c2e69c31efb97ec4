"""Strategies that a user can name: markings, balances; and the recipes for tiny meshes."""
