"""Steps before the first round: admission of the mesh, thresholds, estimates."""
