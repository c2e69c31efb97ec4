"""Unions of numbered lists, and archives of arrays, by native code on several threads."""
