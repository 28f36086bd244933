"""A policy applied to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from baserate._arrays import refuse_differing_indexes
from baserate._errors import OptionError
from baserate._policy import Policy
from baserate.apply._decided import Actions, Given, decided
from baserate.apply._decision import Decision

_SCORES, _ID = "scores", "id"


def actions(
    policy: Policy,
    scores: Any,  # noqa: ANN401  (a column of any kind)
    /,
    *,
    group: Any = None,  # noqa: ANN401  (a column of any kind, or several)
    id: Any = None,  # noqa: A002, ANN401  (a column of any kind)
    missing: Literal["refuse", "keep"] = "refuse",
    chances: bool = False,
) -> Actions:
    """Apply a policy to arrays: what is done with each row.

    Neither the order of rows nor what else is among them changes what is done with one.

    Parameters
    ----------
    policy
        What decides.
    scores
        An array, a list or a column of a frame.
    group
        A column of labels; of several attributes a mapping from their names to columns, or a list or tuple of one for
        each. Categorical columns and dictionaries of Arrow are read without decoding them.
    id
        A column of whole numbers or text, for a policy that draws lots.
    missing
        ``"refuse"`` rows whose score is missing, NaN or infinite; or ``"keep"`` them, with nothing decided.
    chances
        Whether to tell the chance of each action, too.

    Examples
    --------
    >>> from baserate import Cut
    >>> policy = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))}, otherwise="refer", attributes=("sex",))
    >>> found = actions(policy, [0.5, 0.5, 0.9], group=["f", "m", None])
    >>> found
    Actions(3 rows: pass 1, refer 1, flag 1)
    >>> found.text.tolist(), found.flagged.tolist()
    (['flag', 'pass', 'refer'], [True, False, False])
    """
    if not isinstance(policy, Policy):
        raise OptionError(f"{type(policy).__name__} is no policy; read one with Policy.load, or choose one.")
    if policy.needs_id and id is None:
        raise OptionError(
            "this policy draws lots, which the ids of rows decide; give them as id=. Without ids there is no lottery."
        )
    decision = Decision.of(policy, score=_SCORES, id=_ID, missing=missing, chances=chances)
    columns = _columns(policy.attributes, group)
    groups = dict(zip(policy.attributes, columns, strict=True))
    refuse_differing_indexes({_SCORES: scores, **groups, _ID: id})
    return decided(decision, Given(scores, columns, id))


def _columns(attributes: Sequence[str], group: Any) -> Sequence[Any]:  # noqa: ANN401  (columns of any kind)
    """One column for each attribute, in their order."""
    asked = f"this policy asks for {', '.join(attributes) or 'no group'}"
    if (group is None) is bool(attributes):
        raise OptionError(f"{asked}; {'give a column for each as group=' if attributes else 'leave group= out'}.")
    if isinstance(group, Mapping):
        if {*group} != {*attributes}:
            raise OptionError(f"group names {', '.join(map(str, group)) or 'nothing'}, but {asked}; name just those.")
        return [group[name] for name in attributes]
    if len(attributes) < 2:
        return [group] * len(attributes)
    if not isinstance(group, (list, tuple)) or len(group) != len(attributes):
        raise OptionError(
            f"{asked}; give group= as a mapping from those names to columns, or as a list of one for each."
        )
    return group
