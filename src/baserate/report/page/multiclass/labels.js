/** Text of the page of several classes that is the same for every report: panels, sections, methods and glossary. */

/** @type {Record<string, import("../labels.js").Panel>} */
export const PANELS = {
  confusion: {
    section: "confusions",
    title: "Confusion matrix",
    name: "true class vs predicted class",
    how: "Each row is a true class, each column a predicted class; the diagonal is classified correctly. A darker cell has more rows, or a larger share of its true or predicted class. The share of the true class on the diagonal is the recall, that of the predicted class the precision. Click on a cell, or press Enter on it, to select its true class.",
  },
  overall: {
    section: "confusions",
    title: "All classes together",
    name: "with confidence intervals",
    how: "Each line is a measure of all classes together, with its confidence interval. Balanced accuracy is the mean recall over classes. AUC (Hand–Till) is the mean over all pairs of classes. Log loss and Brier score need probabilities; lower values are better.",
  },
  "per-class": {
    section: "classes",
    title: "Performance by class",
    name: "each class against the rest",
    how: "Each dot is the chosen measure of a class against all others, with its confidence interval. Click on a class, or press Enter on it, to select it. The table lists all measures. Macro averages are plain means over classes, weighted averages are means by class frequency. Micro averages of recall, precision and F1 all equal the accuracy.",
  },
  "class-roc": {
    section: "one-class",
    title: "ROC curves",
    name: "each class against the rest",
    how: "Each point is a threshold on the score of a class: recall (upwards) against the false positive rate (to the right). The selected class is the strong line. Drag the point, or use the arrow keys, to move its threshold. Thresholds show the performance of the score of one class; the predicted class is the one with the highest score.",
  },
  "class-pr": {
    section: "one-class",
    title: "Precision–recall curve",
    name: "selected class against the rest",
    how: "Each point is a threshold on the score of the selected class: precision (upwards) against recall (to the right). The horizontal line is the share of the class in the sample, which is the precision of random labels.",
  },
  "class-scores": {
    section: "one-class",
    title: "Score distributions",
    name: "selected class against the rest",
    how: "Bars upwards are rows of the selected class, bars downwards all other rows, each as a share of its kind per bin, on one common scale. Drag the line to move the threshold.",
  },
  "top-class": {
    section: "probabilities",
    title: "Calibration of the predicted class",
    name: "probability vs accuracy",
    how: "Each dot is a bin of similar probabilities of the predicted class: the mean probability (to the right) and the share of rows that are classified correctly (upwards), with its confidence interval. On the diagonal the probabilities are calibrated; below it they are too high. Bars below show the number of rows in each bin.",
  },
  findings: {
    section: "all-findings",
    title: "All findings",
    name: "",
    how: "Each finding states the evidence, why it matters, and what to do. The link leads to the panel that shows the evidence.",
  },
};

/** Titles of the sections, in the order of the page. @type {Record<string, string>} */
export const SECTIONS = {
  confusions: "Confusions",
  classes: "Classes",
  "one-class": "One class against the rest",
  probabilities: "Calibration",
  "all-findings": "Findings",
};

/** How numbers of the page are computed. */
export const METHODS = [
  "The predicted class is the one with the highest score, the first of equal ones, or the predicted label. All numbers are those of the sample.",
  "Measures of a class are those of two classes: this one, and all others together. Averages leave out classes for which a measure is undefined.",
  "Confidence intervals of proportions are Clopper–Pearson or Wilson intervals; those of averages use the delta method or influence functions.",
  "The calibration error (ECE) of a perfectly calibrated classifier is above 0 by chance. Its typical value is stated beside the observed one.",
];

/** Terms of the glossary that are not measures. @type {Record<string, string>} */
export const TERMS = {
  "True class": "The class of a row by its label.",
  "Predicted class": "The class with the highest score, or the predicted label.",
  "One against the rest": "A class as positive, and all others together as negative.",
  "Threshold (cut-off)": "The lowest score at which a row would be assigned to the selected class.",
  "Confidence interval":
    "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated samples.",
};
