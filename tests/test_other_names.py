"""Words of other tools: every one leads to names and commands that exist."""

from pkgutil import resolve_name

import click
import pytest

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
        ("Dxy", OtherName(("measure.gini",), ("measure --measures gini",))),
        ("mcnemar_p_value", OTHER_NAMES["bowker"]),
        ("reclassify", OTHER_NAMES["nri"]),
        ("no_such_thing", None),
    ],
)
def test_words_of_scikit_learn_fairlearn_and_rms(word: str, expected: OtherName | None) -> None:
    assert find_other_name(word) == expected
