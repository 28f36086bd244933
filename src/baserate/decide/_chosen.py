"""A rule let loose on tallies -> a policy that knows its columns, its positive class and the map before it."""

from __future__ import annotations

from dataclasses import replace

from baserate._calibrator import Calibrator
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._policy import Policy
from baserate._tally import Tallies, Tally
from baserate.decide._evaluate import model_of
from baserate.decide._rule import Choose
from baserate.decide._unmapped import unmapped
from baserate.infer import SAME_ROWS


def chosen(tallies: Tallies, rule: Choose, *, model: str | None = None, map: Calibrator | None = None) -> Policy:  # noqa: A002
    """Let a rule choose for everybody, and remember what new rows will need: columns, the positive class, a map.

    With a `map`, its probabilities are what the rule cuts, and the policy says it of the scores (see `unmapped`). Of
    several models one is named.

    >>> from functools import partial
    >>> from baserate import Costs, decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> policy = decide.chosen(t, partial(decide.cost, costs=Costs(fp=1, fn=20)))
    >>> policy.threshold, dict(policy.columns), policy.prevalence
    (0.4, {'truth': 'sick', 'score': 'risk'}, 0.5)
    """
    name = model_of(tallies, model)
    if name == tallies.intake.columns.get("predicted"):
        raise OptionError(f"{name} holds labels, which are decided already; a policy is of scores.")
    tally = tallies.pooled(name)
    policy = rule(Curve(tally)) if map is None else _after(map, tally, rule)
    truth = tallies.intake.columns.get("truth")
    columns = {**({"truth": truth} if isinstance(truth, str) else {}), "score": name}
    return replace(policy, columns=columns, positive=str(tallies.intake.positive))


def _after(map_: Calibrator, tally: Tally, rule: Choose) -> Policy:
    """Let a rule choose among what a map makes of the scores, and say it of the scores themselves."""
    found = unmapped(rule(Curve(tally.rescored(map_(tally.score)))), map_, seen=tally.score)
    notes = (*found.notes, *[SAME_ROWS] * map_.was_fitted_on(tally))
    return replace(found, chosen_on=found.chosen_on and tally.digest, notes=notes)
