"""A coarse front, from which the sizes around fine parts of an outline are interpolated."""
