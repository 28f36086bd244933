"""Two models on the same rows, on different rows, or of many classes: how far apart, and whether by chance."""
