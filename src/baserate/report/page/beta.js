/** Quantiles of the Beta distribution to nearly full precision, for exact intervals of proportions. */

/** Newton's method needs about ten steps. */
const MOST_STEPS = 100;
const MOST_TERMS = 10000;

/**
 * Remainder of Stirling's formula for the logarithm of the gamma function: recurrence up to 10, then the series.
 * @param {number} z above 0
 * @returns {number}
 */
function stirlingRest(z) {
  let at = z;
  let remainder = 0;
  for (; at < 10; at += 1) {
    remainder += (at + 0.5) * Math.log1p(1 / at) - 1;
  }
  const r = 1 / (at * at);
  const small = 1 / 1680 - r * (1 / 1188 - r * (691 / 360360 - r / 156));
  return remainder + (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * small))) / at;
}

/**
 * Logarithm of a ratio, given also the ratio less 1, which is rounded less where the ratio is near 1.
 * @param {number} ratio
 * @param {number} lessOne
 * @returns {number}
 */
function logOfRatio(ratio, lessOne) {
  return ratio < 0.5 || ratio > 2 ? Math.log(ratio) : Math.log1p(lessOne);
}

/**
 * Logarithm of x^a (1−x)^b / B(a, b) as a function of x and y = 1 − x.
 * @param {number} a
 * @param {number} b
 * @returns {(x: number, y: number) => number}
 */
function betaPower(a, b) {
  const n = a + b;
  const [x0, y0] = [a / n, b / n];
  const fixed = 0.5 * Math.log((x0 * b) / (2 * Math.PI)) + stirlingRest(n) - stirlingRest(a) - stirlingRest(b);
  return (x, y) => {
    // The difference of the smaller numbers has the smaller rounding error.
    const away = x0 < y0 ? x - x0 : y0 - y;
    return fixed + a * logOfRatio(x / x0, away / x0) + b * logOfRatio(y / y0, -away / y0);
  };
}

/**
 * Continued fraction that divides x^a (1−x)^b / B(a, b) to give I_x(a, b), for x below the mean, evaluated forward
 * (Didonato and Morris 1992, equation 9).
 * @param {number} a
 * @param {number} b
 * @param {number} x
 * @param {number} y 1 − x
 * @returns {number}
 */
function betaFraction(a, b, x, y) {
  const drift = a * y - b * x + 1;
  let value = (a * drift) / (a + 1);
  let [c, d] = [value, 0];
  for (let n = 1; n < MOST_TERMS; n += 1) {
    const place = a + 2 * n - 1;
    const over = ((a + n - 1) * (a + b + n - 1) * n * (b - n) * x * x) / (place * place);
    const under = n + (n * (b - n) * x) / place + ((a + n) * (drift + n * (1 + y))) / (place + 2);
    d = 1 / (under + over * d);
    c = under + over / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < 2e-16) {
      break;
    }
  }
  return value;
}

/**
 * The x up to ½ with I_x(a, b) = p. Newton's method starts below it; on logarithmic scales it does not overshoot.
 * @param {number} a
 * @param {number} b
 * @param {number} p
 * @returns {number}
 */
function nearZero(a, b, p) {
  const power = betaPower(a, b);
  // The solution of x^a / (a B(a, b)) = p, which is not above the quantile if b is 1 or more.
  const least = Math.exp((Math.log(p * a) - power(a / (a + b), b / (a + b)) + b * Math.log(b / (a + b))) / a);
  let x = Math.min(0.5, (least * a) / (a + b));
  for (let step = 0; step < MOST_STEPS && x > 0; step += 1) {
    const fraction = betaFraction(a, b, x, 1 - x);
    const move = ((power(x, 1 - x) - Math.log(fraction * p)) * (1 - x)) / fraction;
    x *= Math.exp(-move);
    if (Math.abs(move) < 1e-15) {
      break;
    }
  }
  return x;
}

/**
 * The y up to ½ with I_(1−y)(a, b) = p. Newton's method starts above it, where the log of the tail is steeper, so it does
 * not overshoot either.
 * @param {number} a
 * @param {number} b
 * @param {number} p
 * @returns {number}
 */
function nearOne(a, b, p) {
  const power = betaPower(a, b);
  const far = -2 * Math.log(p);
  let y = Math.min(0.5, (b + Math.sqrt(far * b) + far) / (a + b));
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const fraction = betaFraction(a, b, 1 - y, y);
    const move = ((power(1 - y, y) - Math.log(fraction * p)) * (1 - y)) / fraction;
    y += move * y;
    if (Math.abs(move) < 1e-15) {
      break;
    }
  }
  return y;
}

/**
 * The x below which Beta(a, b) has the probability p, up to ½: the inverse of the regularized incomplete beta function.
 * @param {number} a above 0
 * @param {number} b 1 or more
 * @param {number} p
 * @returns {{x: number, y: number}} y is 1 − x, with all its digits
 */
export function betaQuantile(a, b, p) {
  const half = a > b ? betaPower(a, b)(0.5, 0.5) - Math.log(betaFraction(a, b, 0.5, 0.5)) : 0;
  if (half >= Math.log(p)) {
    const x = nearZero(a, b, p);
    return { x, y: 1 - x };
  }
  const y = nearOne(a, b, p);
  return { x: 1 - y, y };
}
