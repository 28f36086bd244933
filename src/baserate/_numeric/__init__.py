"""Mathematics without domain words: no module here depends on what a classifier is.

- `distinct`: distinct values, integer codes and hashes
- `cumulative`: cumulative sums, concordance and sliding minima
- `distributions`, `distribution_functions`: distributions in closed form; tails, densities and expectations of any
- `logistic`: logistic and softmax regression by Newton's method
- `mixture`, `simplex`: mixture proportions of two and of several distributions
- `isotonic`: pool adjacent violators, isotonic regression with an extra observation
- `smoothers`: lowess, Gaussian smoothing on [0, 1]
- `single_precision`: float32 values among doubles
- `threads`: parallel work on large arrays
"""
