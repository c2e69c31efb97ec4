"""Native code of tiles: unions of numbered lists, and components, on several threads."""
