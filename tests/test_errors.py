"""Messages: the options and steps that they mention exist, interfaces spell them, and errors have attributes."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from baserate import BaserateError, OptionError, UnknownNameError, fairness, read
from baserate._domains import LEVEL, check_domain
from baserate._errors import advice, keyword, suggest, unknown_name
from baserate.cli._errors import _WORDINGS
from tests.sources import HOME, modules, nodes


def calls(name: str) -> Iterator[tuple[Path, ast.Call]]:
    """All calls of a function by its plain name."""
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield path, node


def literals(name: str) -> dict[str, Path]:
    """First arguments of all calls of a function, where they are written out."""
    first = ((path, node.args[0]) for path, node in calls(name))
    return {arg.value: path for path, arg in first if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}


def test_messages_mention_options_that_exist() -> None:
    functions = (node for path in modules() for node in nodes(path) if isinstance(node, (ast.FunctionDef, ast.Lambda)))
    parameters = {each.arg for node in functions for each in [*node.args.args, *node.args.kwonlyargs]}
    fields = {
        node.target.id
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    mentioned = literals("keyword")
    assert len(mentioned) > 30
    assert {name: path for name, path in mentioned.items() if name not in parameters | fields} == {}


def test_shell_has_a_wording_for_every_advice() -> None:
    assert {*literals("advice")} == {*_WORDINGS}


def test_only_errors_module_uses_difflib() -> None:
    users = [path for path in modules() if "difflib" in path.read_text(encoding="utf-8")]
    assert users == [HOME / "_errors.py"]


def test_error_attributes() -> None:
    with pytest.raises(OptionError) as caught:
        check_domain("level", 2, LEVEL)
    error = caught.value
    assert (error.option, error.value) == ("level", 2)
    assert error.what.startswith("level is 2; expected a confidence level")
    assert error.remedy == "For 2 percent give 0.02 or '2%'."
    assert str(error) == f"{error.what} {error.remedy}"


def test_remedies_of_numbers_that_are_no_percentages() -> None:
    for value in (-1, 1, 101, float("nan"), "x"):
        with pytest.raises(OptionError, match=r"Give, for example, 0\.95\."):
            check_domain("level", value, LEVEL)


def test_option_of_an_error_is_the_first_mentioned() -> None:
    error = OptionError(
        f"there are no groups; read them with {keyword('group')}", remedy=f"Or leave {keyword('by')} out."
    )
    assert error.option == "group"
    assert error.with_options({"group": "sex"}).option == "sex"
    assert OptionError("there are no groups").option == ""
    without_groups = read.tallies({"y": [0, 1], "p": [0.2, 0.8]}, truth="y", score="p")
    with pytest.raises(OptionError) as caught:
        fairness.group_table(without_groups, policy=0.5)
    assert caught.value.option == "group"


def test_pickled_errors_are_equal_and_their_text_has_no_marks() -> None:
    error = OptionError(
        f"{keyword('id', 3)} is odd", remedy=advice("costs", "do it"), where="a.csv", option="id", value=3
    )
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    assert vars(again) == vars(error)
    assert str(again) == str(error) == error.args[0] == "id=3 is odd; do it"
    assert repr(error) == "OptionError('id=3 is odd; do it')"


def test_unknown_name_suggests_the_nearest() -> None:
    error = unknown_name("rule", "yuden", ["cost", "youden"])
    assert isinstance(error, UnknownNameError)
    assert str(error) == "there is no rule 'yuden'. Did you mean 'youden'? Known are: cost, youden."
    assert error.value == "yuden"
    assert str(unknown_name("rule", "zzz", ["cost"])) == "there is no rule 'zzz'. Known are: cost."
    assert suggest("cst", ["cost", "cast", "zebra"], most=2) == "Did you mean 'cost' or 'cast'?"


@pytest.mark.parametrize(
    ("what", "remedy", "text"),
    [
        ("it is broken", "mend it.", "it is broken; mend it."),
        ("It is broken.", "Mend it.", "It is broken. Mend it."),
        ("Did you mean that?", "Try again.", "Did you mean that? Try again."),
        ("it is broken", "", "it is broken"),
    ],
)
def test_what_and_remedy_are_joined_as_sentences(what: str, remedy: str, text: str) -> None:
    assert str(BaserateError(what, remedy=remedy)) == text
