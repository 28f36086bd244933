import pytest

from baserate import UnknownNameError, measure
from baserate.measure.multiclass import MEASURES, find_measure, search


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("R_K", "mcc"),
        ("r-k", "mcc"),
        ("Matthews correlation coefficient", "mcc"),
        ("Cohen's kappa", "kappa"),
        ("error rate", "hamming_loss"),
        ("macro recall", "balanced_accuracy"),
        ("CBA", "class_balanced_accuracy"),
        ("NIR", "no_information_rate"),
        ("PABAK", "bennett_s"),
        ("Theil's U", "truth_theil_u"),
        ("v measure", "symmetric_theil_u"),
        ("equivocation", "truth_entropy_given_decision"),
        ("CEN", "confusion_entropy"),
    ],
)
def test_measures_are_found_by_aliases(spelling: str, name: str) -> None:
    assert find_measure(spelling) is MEASURES[name]


def test_names_are_looked_up_in_their_own_registry() -> None:
    assert find_measure("mcc") is not measure.find_measure("mcc")
    with pytest.raises(UnknownNameError, match=r"no measure 'sensitivity'.* Known are: accuracy, hamming_loss"):
        find_measure("sensitivity")
    with pytest.raises(UnknownNameError, match=r"no measure 'scott_pie'\. Did you mean 'scott_pi'"):
        find_measure("scott_pie")
    with pytest.raises(UnknownNameError, match="scott_pi is a measure of several classes"):
        measure.find_measure("scott_pi")


def test_search_covers_names_aliases_and_summaries() -> None:
    assert search("theil") == ["truth_theil_u", "decision_theil_u", "symmetric_theil_u"]
    assert search("beyond chance") == ["kappa", "scott_pi", "gwet_ac1"]
    assert search("subset accuracy") == ["exact_match"]
    assert search("nothing of the kind") == []
