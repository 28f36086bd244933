/** All words of the page that are not about one report: what measures and panels are called, and how to read them. */

/** @typedef {{plain: string, technical: string, means: string, format: "percent" | "number"}} Words */

/**
 * @param {string} plain
 * @param {string} technical
 * @param {string} means
 * @param {"percent" | "number"} [format]
 * @returns {Words}
 */
function words(plain, technical, means, format = "percent") {
  return { plain, technical, means, format };
}

/** @type {Record<string, Words>} */
export const SPOKEN = {
  sensitivity: words("Positives found", "sensitivity, recall", "Of all who are positive, the share that is flagged."),
  specificity: words("Negatives passed", "specificity", "Of all who are negative, the share that is passed."),
  precision: words(
    "Flags that are right",
    "precision, PPV",
    "Of all who are flagged, the share that is positive. It falls with the prevalence.",
  ),
  npv: words("Passes that are right", "NPV", "Of all who are passed, the share that is negative."),
  fpr: words(
    "Negatives flagged in vain",
    "false positive rate",
    "Of all who are negative, the share that is flagged in vain.",
  ),
  flag_rate: words(
    "Flagged, of everybody",
    "flag rate",
    "The share of everybody that is flagged: the work that flags make.",
  ),
  accuracy: words(
    "Decided rightly",
    "accuracy",
    "The share of everybody who is flagged and positive, or passed and negative.",
  ),
  balanced_accuracy: words("Right in both classes", "balanced accuracy", "The mean of sensitivity and specificity."),
  f1: words("Precision and recall", "F1", "Their harmonic mean: low if either is.", "number"),
  mcc: words(
    "Agreement with truth",
    "MCC",
    "Matthews' correlation of decision and truth: 0 for none, 1 for all.",
    "number",
  ),
  expected_cost: words("Cost of a case", "expected cost", "What mistakes cost for each person, on average.", "number"),
  prevalence: words(
    "Everybody who is positive",
    "prevalence",
    "The share of everybody that is positive: the base rate.",
  ),
  auc: words(
    "Pairs in the right order",
    "AUC",
    "How often a positive has a higher score than a negative. No cut-off and no prevalence changes it.",
    "number",
  ),
  average_precision: words(
    "Precision, all cut-offs",
    "average precision",
    "The area under the precision–recall curve.",
    "number",
  ),
  brier: words(
    "Squared error",
    "Brier score",
    "The mean squared distance of probability and outcome: 0 is perfect.",
    "number",
  ),
  brier_skill: words(
    "Better than a constant",
    "Brier skill",
    "The part of the Brier score of a constant that the scores save.",
    "number",
  ),
  log_loss: words(
    "Surprise at the outcomes",
    "log-loss",
    "Minus the mean logarithm of the probability of what happened.",
    "number",
  ),
  ece: words(
    "Probabilities off by",
    "calibration error, ECE",
    "The mean distance of probabilities and observed shares, over bins.",
  ),
  calibration_slope: words(
    "Spread of the log-odds",
    "calibration slope",
    "1 if as spread as it should be; below 1 the scores are too sure of themselves.",
    "number",
  ),
  calibration_in_the_large: words(
    "Log-odds off by, on average",
    "calibration in the large",
    "0 if as many are positive as predicted; below 0 fewer are.",
    "number",
  ),
  observed_expected: words("Positives, by predicted", "O/E", "1 if as many are positive as predicted.", "number"),
  mean_probability: words(
    "Mean probability",
    "mean probability",
    "What the scores say of everybody; compare it with the prevalence.",
  ),
};

/**
 * The first technical name of a measure.
 * @param {string} measure
 * @returns {string}
 */
export function technicalName(measure) {
  return SPOKEN[measure].technical.split(",")[0];
}

const CONFIDENCE_INTERVAL =
  "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated samples.";

/** Names of the two classes and what is done, for the legends. */
export const CLASSES = { positive: "positives", negative: "negatives" };

/** @typedef {{title: string, name: string, how: string, wide?: boolean}} Panel */

/** @type {Record<string, Panel>} */
export const PANELS = {
  findings: {
    title: "What to know first",
    name: "findings",
    how: "Each line says what stands out in these rows, why it matters and what to do. They were found at the settings of the plan, and do not move with the controls. The link leads to the panel that shows it.",
  },
  thousand: {
    title: "What happens to 1000 people",
    name: "2×2 table, natural frequencies",
    how: "Each square is one of a thousand people at the chosen prevalence. Filled orange squares are positives who are flagged, hollow orange ones are missed; filled blue ones are negatives who are flagged in vain, pale ones are passed. The table counts them: rows are what is true, columns what is done.",
  },
  measures: {
    title: "Numbers, and how sure they are",
    name: "measures with intervals",
    how: `Each line is one measure at the chosen cut-off and prevalence. The dot is its value, the bar its confidence interval. ${CONFIDENCE_INTERVAL} Intervals of shares move with the controls. The others were made at the settings of the plan, and are shown there alone. Further numbers depend on the scores alone, whatever the cut-off.`,
  },
  scores: {
    title: "Which scores both classes get",
    name: "score distributions",
    how: "Bars upwards are positives, bars downwards are negatives, each as a share of its class and as high as its tallest bar. Everybody on the shaded side of the line is flagged. Drag the line, or move it with the arrow keys. The less the two classes overlap, the better a cut-off can tell them apart.",
  },
  roc: {
    title: "Found, against flagged in vain",
    name: "ROC curve",
    how: "Each point of the curve is a cut-off: how many positives it flags (upwards) and how many negatives (to the right). The upper left corner is perfect, the diagonal is chance. The dashed hull is what mixing two cut-offs can reach. All points on the straight grey line cost the same; it touches the hull at the cheapest cut-off for the chosen costs and prevalence. The band is a confidence band for the curve.",
  },
  pr: {
    title: "Found, against right among the flagged",
    name: "precision–recall curve",
    how: "Each point is a cut-off: how many positives it finds (to the right) and how many of the flagged are positive (upwards), at the chosen prevalence. The horizontal line is the prevalence: flagging by chance is no higher. Along each thin curve F1, the harmonic mean of both, is the same.",
  },
  thresholds: {
    title: "What each cut-off would give",
    name: "measures against the threshold",
    how: "Read upwards from a cut-off: what share of positives and of everybody is flagged there, what share of negatives is passed, and what share of the flagged is positive. Drag the line to move the cut-off.",
  },
  reliability: {
    title: "Do as many turn out positive as predicted?",
    name: "reliability diagram",
    how: "Each dot is a bin of people with similar probabilities: what was predicted (to the right) and what share of them is positive (upwards), with its interval. On the diagonal the probabilities are right; below it they are too high. The stepped line is the best fit that never falls (isotonic). Bars below tell how many people each bin holds. At another prevalence than that of the sample the shares move, since the probabilities were not made for it; the calibration error in the legend says at which prevalence it holds.",
  },
  benefit: {
    title: "Is it worth acting on the scores?",
    name: "decision curve",
    how: "For people who would act from some probability on, net benefit counts the positives who are found, less the false alarms at the price that this probability implies, for each person. Flagging by the scores is worth it where its line is above both others: flagging everybody, and flagging nobody. At another prevalence than that of the rows, scores are adjusted to it before they are compared with the probability; a dotted line shows what they are worth unadjusted. The current threshold flags the same people whatever the probability, so it has a line of its own, which meets that of the scores where both flag the same. The vertical line is the probability that the chosen costs imply, and the dot on it what the current threshold is worth there.",
  },
  prevalence: {
    title: "What a flag means elsewhere",
    name: "PPV and NPV against prevalence",
    how: "The same cut-off at other prevalences, if each class looks there as it does here: the share of the flagged who are positive falls where positives are rare, and the share of the passed who are negative rises. Lines mark the prevalence of the rows and the chosen one; bands are intervals.",
  },
  groups: {
    title: "Who is treated how",
    name: "groups and parity",
    wide: true,
    how: "Each group at its cut-off. A single cut-off treats scores alike. Own cut-offs are the cheapest for each group by itself. The others are the cheapest choice that makes a rate the same in all groups: how many are flagged (demographic parity), how many positives are flagged (equal opportunity), or how many of both classes (equalized odds). Where no single cut-off reaches a rate, people between two cut-offs draw lots. Prevalence, flag rate and precision are at the prevalence above the table. Which of them is right is not for a page to say: no choice makes all rates equal where base rates differ.",
  },
  models: {
    title: "Models side by side",
    name: "comparison",
    wide: true,
    how: "The first table shows each model at the threshold that the plan gives it, at the prevalence in its heading; the differences below it are of these decisions, tested in the sample. In the last table all models flag the same share of everybody as the chosen one does at its threshold, so that they cost the same work; a model that gives labels flags whom it flags.",
  },
};

/** @typedef {{name: string, means: string}} Choice */

/** The button that resets the page; those of rules have their words in the payload. @type {Choice} */
export const PLANNED = {
  name: "All as planned",
  means: "Cut-off, prevalence and costs that the report was made with.",
};

/** @type {Record<string, Choice>} */
export const PARITY_WORDS = {
  single: { name: "Single threshold", means: "One cut-off for everybody." },
  own: { name: "Own thresholds", means: "The cheapest cut-off for each group by itself." },
  "demographic-parity": {
    name: "Demographic parity",
    means: "The cheapest choice that flags the same share of every group.",
  },
  "equal-opportunity": {
    name: "Equal opportunity",
    means: "The cheapest choice that flags the same share of the positives of every group.",
  },
  "equalized-odds": {
    name: "Equalized odds",
    means: "The cheapest choice that flags the same share of the positives, and of the negatives, of every group.",
  },
  planned: { name: "As planned", means: "What the policy of the plan does." },
};

/** What is said everywhere. @type {Record<string, string>} */
export const TERMS = {
  "Positive, negative": "What is true of a person: having what is looked for, or not.",
  "Flagged, passed": "What is done: scores from the cut-off up are flagged, all others are passed.",
  "Cut-off (threshold)": "The lowest score that is flagged.",
  "Confidence interval": CONFIDENCE_INTERVAL,
  Hull: "The best that can be reached by mixing two cut-offs: straight lines over the dents of a ROC curve.",
  Lots: "Where no single cut-off reaches a rate, people between two cut-offs are flagged with a chance.",
};
