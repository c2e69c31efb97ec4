"""Native code of tiles: unions of numbered lists, components, and archives of arrays, on several threads."""
