/** Text of the page that is the same for every report: panels, buttons and glossary. Measures, rules and parities bring
 * their own text in the payload, from the registries in Python. */

const CONFIDENCE_INTERVAL =
  "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated samples.";

/** Names of both classes in legends. */
export const CLASSES = { positive: "positives", negative: "negatives" };

/**
 * Texts of a panel, and its section; the panels of a section follow each other in this order.
 * @typedef {{section: string, title: string, name: string, how: string, wide?: boolean}} Panel
 */

/** @type {Record<string, Panel>} */
export const PANELS = {
  scores: {
    section: "decision",
    title: "Score distributions",
    name: "by class",
    how: "Bars upwards are positives, bars downwards are negatives, both on one scale: people in each bin, of 1,000 people at the selected prevalence. Where positives are rare, their bars are short; shares of each class make their shape visible. A bar that is cut at the edge has its number beside it. Scores in the shaded area are flagged. Drag the line, or use the arrow keys, to move the threshold. The less the classes overlap, the better a threshold separates them.",
  },
  thousand: {
    section: "decision",
    title: "Per 1,000 people",
    name: "icon array and confusion matrix",
    how: "Each square is one of 1,000 people at the selected prevalence. Filled orange squares are true positives, hollow orange squares false negatives. Filled blue squares are false positives, pale squares true negatives. The table is the confusion matrix: rows are labels, columns are decisions.",
  },
  measures: {
    section: "decision",
    title: "Performance at this threshold",
    name: "with confidence intervals",
    how: `Each line is one measure at the selected threshold and prevalence. The dot is the estimate, the bar its confidence interval. ${CONFIDENCE_INTERVAL} Intervals follow the controls; where decisions are partly at random there is none. Where a threshold is pinned, A is the pinned threshold, B the current one, and the difference is B − A. The second table lists measures of the scores, which do not depend on the threshold, each with the prevalence at which it holds.`,
  },
  prevalence: {
    section: "setting",
    title: "PPV and NPV by prevalence",
    name: "predictive values",
    how: "The current threshold at other prevalences, if the score distribution of each class stays the same. PPV falls where positives are rare, and NPV rises. Vertical lines mark the prevalence of the sample and the selected one. Bands are confidence intervals.",
  },
  benefit: {
    section: "setting",
    title: "Decision curve (net benefit)",
    name: "decision curve analysis",
    how: "Net benefit counts true positives, less false positives weighted by the odds of the threshold probability, per person. A model is useful where its line is above both reference lines: flag everybody, and flag nobody. At another prevalence than that of the sample, scores are adjusted to it before they are compared with the threshold probability; a dotted line shows the scores without adjustment. The current threshold flags the same people at every threshold probability, so it has its own line. Where costs are stated, the vertical line is the threshold probability that they imply, and the dot on it is the net benefit of the current threshold.",
  },
  thresholds: {
    section: "setting",
    title: "Performance by threshold",
    name: "rates vs threshold",
    how: "Each curve is one measure at every threshold. Drag the line to move the threshold.",
  },
  "cost-map": {
    section: "setting",
    title: "Cost saved, by prevalence and costs",
    name: "relative utility",
    how: "Color is the share of the cost of errors that the best threshold saves, compared with the cheaper one of flagging nobody and flagging everybody. The horizontal axis is the prevalence, the vertical one the cost of a miss in false alarms. Beyond the dashed lines less than 1% is saved: flag nobody below the lower line, and everybody above the upper one. The best thresholds are chosen on the same rows, so the share is optimistic where rows are few. The point marks the selected settings. Click a cell, or press Enter, to select its prevalence and costs.",
  },
  roc: {
    section: "discrimination",
    title: "ROC curve",
    name: "sensitivity vs false positive rate",
    how: "Each point is a threshold: sensitivity (upwards) against the false positive rate (to the right). The upper left corner is perfect, the diagonal is chance. Randomizing between two thresholds reaches the dotted convex hull. All points on an iso-cost line cost the same. The line shown, where costs are stated, touches the hull at the threshold of lowest cost for the selected costs and prevalence. The band is a pointwise confidence band. Thin lines are other models.",
  },
  pr: {
    section: "discrimination",
    title: "Precision–recall curve",
    name: "PPV vs sensitivity",
    how: "Each point is a threshold: PPV (precision, upwards) against sensitivity (recall, to the right), at the selected prevalence. The horizontal line is the prevalence, which is the PPV of random flagging. F1, the harmonic mean of precision and recall, is constant along each thin curve. The legend states average precision (AP) with its prevalence, where the report contains it. Other models have lines of their own.",
  },
  reliability: {
    section: "calibration",
    title: "Calibration: predicted vs observed risk",
    name: "reliability diagram",
    how: "Each dot is a bin of similar predictions: the mean predicted risk (to the right) and the observed share of positives (upwards), with its confidence interval. On the diagonal the predictions are calibrated; below it they are too high. The stepped line is an isotonic fit. Bars below show people per bin, of 1,000. At another prevalence than that of the sample the observed shares change, but the predictions do not. A slope below 1 means predictions that are too extreme. The intercept is the calibration in the large: 0 is right, below 0 predictions are too high. O/E is the observed number of positives over the expected one. ECE is the mean distance from the diagonal.",
  },
  groups: {
    section: "fairness",
    title: "Performance by group",
    name: "group fairness",
    wide: true,
    how: "Each row of the chart is a group, each column a measure: the mark is the estimate, the bar its confidence interval, and the dashed line the reference group. Hollow marks rest on few rows and vary widely by chance. The table below states the numbers. Differences are those of a group less the reference group, with Newcombe's confidence interval; p-values are of the plan's decisions in the sample, adjusted by Holm's method over all groups and measures. Where base rates differ, no policy makes all rates equal; the data cannot decide which difference is justified.",
  },
  "group-policies": {
    section: "fairness",
    title: "Strategies for groups",
    name: "parity constraints and what they cost",
    wide: true,
    how: "Each row is a strategy; its button applies it to the whole page. A single threshold applies one threshold to all groups. Group-specific thresholds minimize the cost of each group separately. A parity constraint minimizes the total cost such that the named rates are equal in all groups. Where no single threshold reaches a rate, people with scores between two thresholds are decided at random. Differences are the largest between any two groups, small groups included, since a strategy decides for them, too; bold ones are those that the strategy constrains. Changed decisions are those that differ from the plan's.",
  },
  "group-frontier": {
    section: "fairness",
    title: "Cost and disparity",
    name: "exact frontier",
    how: "Each point of the curve is the lowest expected cost of a policy whose rates differ between groups by no more than the place on the horizontal axis. The curve is exact, convex and piecewise linear; policies on it may randomize. Beyond its end the constraint costs nothing. The stepped line is the lowest cost of one threshold for all groups. Points are the strategies; below the curve there is no policy.",
  },
  "group-roc": {
    section: "fairness",
    title: "ROC curves by group",
    name: "with the decision of each group",
    how: "Each curve is the ROC curve of a group, and the mark on it the group's current decision. A mark below its curve is a randomized decision. Groups with curves far apart are ranked with different quality.",
  },
  "group-scores": {
    section: "fairness",
    title: "Scores by group",
    name: "per 1,000 people of the group",
    wide: true,
    how: "Bars upwards are positives, bars downwards negatives, per 1,000 people of the group at the selected prevalence. All groups have the same scale; positives and negatives each have their own, stated on the axis. Scores at or above a group's line are flagged. Drag a line, or use the arrow keys, to give the group a threshold of its own; the whole page follows.",
  },
  models: {
    section: "comparison",
    title: "Model comparison",
    name: "at planned thresholds and at equal flag rates",
    wide: true,
    how: "The first table shows each model at its planned threshold, at the prevalence in the heading. The forest plots below it show the difference of the selected model and each other one, with confidence intervals, on the same people: left of the line the selected model has the lower value. Measures of different units have axes of their own. Differences are those of the plan: at the planned thresholds and the prevalence in their heading, which counts as known. They do not change with the controls. In the last table all models flag the same share of people as the selected model, so they cause the same workload. A model that predicts labels keeps its labels.",
  },
  findings: {
    section: "all-findings",
    title: "All findings",
    name: "at the settings of the plan",
    how: "Each finding states the evidence, why it matters, and what to do. Findings refer to the settings of the plan and do not change with the controls. The link leads to the panel that shows the evidence.",
  },
};

/** Titles of the sections, in the order of the page. @type {Record<string, string>} */
export const SECTIONS = {
  decision: "Decision",
  setting: "Setting",
  discrimination: "Discrimination",
  calibration: "Calibration",
  fairness: "Groups",
  comparison: "Models",
  "all-findings": "Findings",
};

/** @typedef {{label: string, hint: string}} Choice */

/** Scales of the score distributions. */
export const SCALE_CHOICE = {
  name: /** @type {const} */ ("scale"),
  label: "Scale of the score distributions",
  texts: { people: "Per 1,000 people", classes: "Share of each class" },
};

/** The button that resets the page. @type {Choice} */
export const RESET = {
  label: "Reset",
  hint: "Threshold, prevalence and costs of the plan.",
};

/** Policies for groups that are no parity constraint. @type {Record<string, Choice>} */
export const GROUP_POLICIES = {
  single: { label: "Single threshold", hint: "One threshold for all groups." },
  own: { label: "Group-specific thresholds", hint: "The threshold of lowest cost for each group." },
  planned: { label: "Policy of the plan", hint: "The decisions of the policy in the plan." },
  custom: { label: "Custom thresholds", hint: "The threshold of each group as it was dragged." },
};

/** How numbers of the page are computed. */
export const METHODS = [
  "A row is flagged if its score is at or above the threshold. Rates within a class (sensitivity, specificity) are those of the sample at every prevalence. PPV, NPV, accuracy, cost and other measures are computed for the selected prevalence by weighting the classes.",
  "Scores of each class are assumed to be distributed in deployment as in the sample (label shift).",
  "Confidence intervals of proportions are Wilson's, or Clopper and Pearson's where there are fewer than 13 hits or misses. At a prevalence that is stated, it counts as known: only the rows within each class vary. PPV and NPV have intervals of log-odds.",
  "The interval of F1 follows from that of the Jaccard index, or from both rates on the scale of log-odds; that of MCC from prevalence and rates on Fisher's z scale; those of balanced accuracy and expected cost from both rates. Distances from the bounds of each part are added in quadrature (Zou and Donner). In simulations with 200 and 2,000 rows they covered the true value in at least 93% of samples at a level of 95%.",
  "p-values of several comparisons are adjusted by Holm's method where they are called Holm.",
];

/** Terms of the glossary that are neither measures nor buttons. @type {Record<string, string>} */
export const TERMS = {
  "Positive, negative": "The true class of a person: with the outcome of interest, or without it.",
  "Flagged, not flagged":
    "The decision (predicted positive or negative): scores at or above the threshold are flagged.",
  "Threshold (cut-off)": "The lowest score that is flagged.",
  "Confidence interval": CONFIDENCE_INTERVAL,
  "Convex hull": "The best ROC points that randomizing between two thresholds can reach.",
  "Decided at random":
    "Where no single threshold reaches a rate, scores between two thresholds are flagged with a probability.",
};
