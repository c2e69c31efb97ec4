"""Archives of arrays (.npz), which several threads write piece by piece."""
