"""Native code of tiles, on several threads: unions of numbered lists, components, and shapes of triangles."""
