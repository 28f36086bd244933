"""Classifiers and scorers of scikit-learn, made of maps, policies and measures.

May import everything but the faces. Needs scikit-learn, which nothing else here does:
``pip install 'baserate[sklearn]'``.
"""

from baserate._errors import NotInstalledError

try:
    from baserate.sklearn._calibrated import CalibratedBy
    from baserate.sklearn._policy import PolicyClassifier
    from baserate.sklearn._scorers import scorer, scorers
except ImportError as error:
    raise NotInstalledError("baserate.sklearn needs scikit-learn; run: pip install 'baserate[sklearn]'.") from error

__all__ = ["CalibratedBy", "PolicyClassifier", "scorer", "scorers"]


def __dir__() -> list[str]:
    return sorted(__all__)
