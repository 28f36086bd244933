"""Mathematics without domain words: no module here depends on what a classifier is.

- `distinct`: distinct values, integer codes, hashes, and float32 values among doubles
- `cumulative`: cumulative sums, concordance, sliding minima, isotonic regression, and parallel work on large arrays
- `distributions`: distributions in closed form; tails, densities and expectations of any distribution
- `logistic`: logistic and softmax regression by Newton's method
- `mixture`, `simplex`: mixture proportions of two and of several distributions
- `binormal`: the binormal ROC curve, by least squares and by maximum likelihood
- `kernel_density`, `log_concave`: densities, and bandwidths; `quantile_search`: quantiles of such distributions
- `smoothers`: lowess, Gaussian smoothing on [0, 1]; `splines`: penalized regression splines
"""
