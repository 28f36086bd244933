import pytest

from baserate import ClassRows, Confusion, LabelSets, UnknownName, measure
from baserate.measure import about, multiclass
from baserate.measure.multiclass import MEASURES, named, search


def test_every_measure_is_registered_under_its_own_name() -> None:
    for name, function in MEASURES.items():
        assert (about(function).name, function.__name__) == (name, name)
        assert getattr(multiclass, name) is function


def test_what_a_measure_knows_is_sound() -> None:
    for name, function in MEASURES.items():
        told = about(function)
        assert told.of in (Confusion, ClassRows, LabelSets), name
        assert told.best in ("high", "low", None), name
        assert told.span[0] < told.span[1], name
        assert told.meaning.endswith("."), name
        assert ":math:" not in told.meaning, name
        assert told.formula, name
        assert told.references, name
        assert told.needs, name
        assert all(hasattr(told.of, margin) for margin in told.needs), name
        assert len(told.causes) == len(told.needs), name


def test_no_two_measures_share_a_name() -> None:
    names = [other.lower() for function in MEASURES.values() for other in about(function).also]
    assert len(names) == len(set(names))
    assert not set(names) & set(MEASURES)


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
def test_measures_are_found_by_other_names(spelling: str, name: str) -> None:
    assert named(spelling) is MEASURES[name]


def test_names_are_looked_up_in_their_own_registry() -> None:
    assert named("mcc") is not measure.named("mcc")
    with pytest.raises(UnknownName, match=r"no measure 'sensitivity'.* Known are: accuracy, hamming_loss"):
        named("sensitivity")
    with pytest.raises(UnknownName, match=r"no measure 'scott_pie'\. Did you mean scott_pi"):
        named("scott_pie")
    with pytest.raises(UnknownName, match="no measure 'scott_pi'"):
        measure.named("scott_pi")


def test_search_reads_names_other_names_and_meanings() -> None:
    assert search("theil") == ["truth_theil_u", "decision_theil_u", "symmetric_theil_u"]
    assert search("beyond chance") == ["kappa"]
    assert search("nothing of the kind") == []
