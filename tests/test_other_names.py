"""Words of other tools: every one leads to names and commands that exist."""

from collections import Counter
from pkgutil import resolve_name

import click
import pytest

from baserate import _other_names
from baserate._other_names import OTHER_NAMES, OtherName, find_other_name
from baserate.cli import app
from baserate.measure import MEASURES, describe, find_measure

MEASURE_NAMES = "--measures"


def resolve(name: str) -> object:
    if name.startswith("sklearn."):
        pytest.importorskip("sklearn")
    return resolve_name(f"baserate.{name}")


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command, of a group that of its figure, and the words after it."""
    command: click.Command = app
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        step = command.get_command(click.Context(command), words[0])
        assert step is not None, words
        command, words = step, words[1:]
    return command, words


def test_the_table_is_long() -> None:
    assert len(OTHER_NAMES) > 200


def test_every_word_is_in_one_entry() -> None:
    """A word in two entries would silently have the meaning of the last."""
    words = Counter(word for listed, _ in _other_names._ENTRIES for word in listed.split())  # noqa: SLF001
    assert [word for word, times in words.items() if times > 1] == []


@pytest.mark.parametrize("name", sorted({each for entry in OTHER_NAMES.values() for each in entry.python}))
def test_python_names_exist(name: str) -> None:
    assert resolve(name) is not None


@pytest.mark.parametrize("typed", sorted({each for entry in OTHER_NAMES.values() for each in entry.commands}))
def test_commands_and_their_options_exist(typed: str) -> None:
    command, rest = find_command(typed.split())
    # With the help option of the program: commands remember the first one that they are asked for.
    context = click.Context(command, help_option_names=["-h", "--help"])
    options = {flag: each for each in command.get_params(context) for flag in each.opts}
    for place, word in enumerate(rest):
        if word.startswith("--"):
            assert word in options
            if word == MEASURE_NAMES and "hamming" not in typed:
                assert describe(find_measure(rest[place + 1])).name == rest[place + 1]


@pytest.mark.parametrize("word", OTHER_NAMES)
def test_aliases_of_measures_agree_with_the_registry(word: str) -> None:
    names = [name.removeprefix("measure.") for name in OTHER_NAMES[word].python if name.startswith("measure.")]
    if names and names[0] in MEASURES and OTHER_NAMES[word].python[0].startswith("measure."):
        assert describe(find_measure(word)).name == names[0]


@pytest.mark.parametrize("word", OTHER_NAMES)
def test_every_word_is_found_in_any_spelling(word: str) -> None:
    entry = OTHER_NAMES[word]
    assert entry.python or entry.commands
    assert find_other_name(word) == find_other_name(word.replace("_", "-").upper())
    assert find_other_name(word) == entry  # no other entry has the word in another spelling


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("roc_auc_score", OtherName(("measure.auc",), ("measure --measures auc",))),
        ("threshold optimizer", OtherName(("equalize", "fairness.optimal_policy"), ("equalize",))),
        ("roc-test", OTHER_NAMES["delong"]),
        ("val.prob", OTHER_NAMES["calibration_curve"]),
        ("improveProb", OTHER_NAMES["nri"]),
        ("Dxy", OtherName(("measure.gini",), ("measure --measures gini",))),
        ("mcnemar_p_value", OTHER_NAMES["bowker"]),
        ("reclassify", OTHER_NAMES["nri"]),
        ("no_such_thing", None),
    ],
)
def test_words_of_scikit_learn_fairlearn_and_rms(word: str, expected: OtherName | None) -> None:
    assert find_other_name(word) == expected


@pytest.mark.parametrize(
    ("word", "python", "command"),
    [
        ("improveProb", "infer.net_reclassification", "reclassify"),
        ("roc_dist", "measure.roc_distance", "measure --measures roc_distance"),
        ("sedi", "measure.sedi", "measure --measures sedi"),
        ("logauc", "measure.log_auc", "measure --measures log_auc"),
        ("theil_index", "measure.theil_index", "measure --measures theil_index"),
        ("NIR", "measure.no_information_rate", "measure --measures no_information_rate"),
        ("nagelkerke", "measure.nagelkerke_r2", "reliability"),
        ("multiclass.roc", "measure.multiclass.hand_till", "measure"),
        ("smooth", "infer.smooth_roc", "curve roc --smooth binormal"),
        ("venkatraman", "infer.compare", "compare --method venkatraman"),
        ("ci.se", "measure.sensitivity_at_specificity", "measure --measures sensitivity_at_specificity"),
        ("power.roc.test", "infer.sample_size_for_auc", "size"),
        ("KDEyML", "shift.estimate_prevalence", "prevalence"),
        ("MedianSweep", "shift.estimate_prevalence", "prevalence"),
        ("APP", "shift.quantification_study", "prevalence-study"),
        ("CalibratedEqOddsPostprocessing", "fairness.calibrated_equalized_odds", "equalize --withhold fnr"),
        ("disparate_impact", "fairness.group_ratios", "groups --measures flag_rate --ratios"),
        ("oc_youden_kernel", "decide.kernel", "decide --rule kernel"),
        ("maximize_boot_metric", "decide.bootstrap_average", "decide --rule bootstrap-average"),
        ("MinPvalue", "decide.min_p_value", "decide --rule min-p-value"),
        ("PrevalenceMatching", "decide.prevalence_matching", "decide --rule prevalence-matching"),
        ("coverage_error", "measure.multiclass.coverage_error", "measure --truths y_"),
        ("ranked_prob_score", "measure.multiclass.ranked_probability_score", "measure --scores p_"),
        ("net_intervention_avoided", "measure.net_reduction", "draw decision-curve --kind net-reduction"),
    ],
)
def test_words_of_specialized_tools(word: str, python: str, command: str) -> None:
    entry = find_other_name(word)
    assert entry is not None
    assert python in entry.python
    assert command in entry.commands
