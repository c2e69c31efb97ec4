"""Pictures of meshes: drawings by matplotlib and small SVG pictures for notebooks."""
