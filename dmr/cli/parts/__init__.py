"""The commands on meshes in parts: `dmr refine --tiles`, and others that take a folder of parts."""
