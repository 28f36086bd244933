"""Classifiers and scorers for scikit-learn, from calibrators, policies and measures.

Only this package needs scikit-learn: ``pip install 'baserate[sklearn]'``. It uses all packages except `report`, `draw`,
`serve` and `cli`.

- `_calibrated_classifier`: `CalibratedClassifier`.
- `_policy_classifier`, `_policy_choice`: `PolicyClassifier`, and how its policy is chosen.
- `_scorers`: `scorer` and `scorers`.
- `_out_of_fold`: fits of inner classifiers, folds, and out-of-fold scores.
"""

from baserate._errors import NotInstalledError

try:
    from baserate.sklearn._calibrated_classifier import CalibratedClassifier
    from baserate.sklearn._policy_classifier import PolicyClassifier
    from baserate.sklearn._scorers import scorer, scorers
except ImportError as error:
    raise NotInstalledError(
        "baserate.sklearn needs scikit-learn", remedy="run: pip install 'baserate[sklearn]'."
    ) from error

__all__ = ["CalibratedClassifier", "PolicyClassifier", "scorer", "scorers"]


def __dir__() -> list[str]:
    return sorted(__all__)
