"""All other mesh formats, read and written through meshio."""
