/** One question: the features of each candidate, its grade, and the group (the document) that it is of. */
export interface Example {
  readonly features: readonly Float32Array[];
  readonly grades: readonly number[];
  readonly groups: readonly number[];
}

export interface Options {
  /** Number of features. */
  readonly size: number;
  readonly steps?: number;
  readonly rate?: number;
  /** Strength with which weights are drawn to 0. */
  readonly decay?: number;
  /** The least weight of each feature: 0 where more of it can only speak for a candidate. */
  readonly lower?: readonly number[];
  /** True if one good candidate is as good as all of them: the weights then count for the best of them. */
  readonly isOneEnough?: boolean;
}

/**
 * Weights of a linear model that ranks groups by their best candidate: the cross-entropy of the softmax over groups with the shares of
 * their grades (ListNet, Cao et al. 2007), by gradient descent with momentum. Which candidate of a group counts is chosen anew in each
 * step. Each set of examples counts the same.
 */
export function learnRanking(sets: readonly (readonly Example[])[], options: Options): Float64Array {
  const { steps = 150, rate = 3, decay = 1e-3, size, lower, isOneEnough = false } = options;
  const weights = new Float64Array(size);
  const velocity = new Float64Array(size);
  weights[0] = 5;
  for (let step = 0; step < steps; step++) {
    const gradient = new Float64Array(size);
    for (const set of sets) {
      const own = new Float64Array(size);
      for (const example of set) addGradient(own, weights, example, isOneEnough);
      for (let index = 0; index < size; index++) gradient[index]! += own[index]! / set.length / sets.length;
    }
    for (let index = 0; index < size; index++) {
      velocity[index] = 0.9 * velocity[index]! + gradient[index]! - decay * weights[index]!;
      weights[index] = Math.max(lower?.[index] ?? -Infinity, weights[index]! + rate * velocity[index]!);
    }
  }
  return weights;
}

function addGradient(
  gradient: Float64Array,
  weights: Float64Array,
  example: Example,
  isOneEnough: boolean,
): void {
  const { features, grades, groups } = example;
  const best = new Map<number, { at: number; score: number }>();
  for (const [at, each] of features.entries()) {
    const score = dot(weights, each);
    const known = best.get(groups[at]!);
    if (!known || score > known.score) best.set(groups[at]!, { at, score });
  }
  const chosen = [...best.values()];
  const total = chosen.reduce((sum, { at }) => sum + grades[at]!, 0);
  if (total === 0) return;
  const top = Math.max(...chosen.map(({ score }) => score));
  const exps = chosen.map(({ score }) => Math.exp(score - top));
  const sum = exps.reduce((one, other) => one + other, 0);
  const good = chosen.reduce((one, { at }, index) => one + (grades[at]! > 0 ? exps[index]! : 0), 0);
  for (const [index, { at }] of chosen.entries()) {
    const share = isOneEnough ? (grades[at]! > 0 ? exps[index]! / good : 0) : grades[at]! / total;
    const wanted = share - exps[index]! / sum;
    const each = features[at]!;
    for (let feature = 0; feature < each.length; feature++) gradient[feature]! += wanted * each[feature]!;
  }
}

/**
 * The bias with which a logistic function of the scores tells relevant candidates from others: half is the border. Both kinds count the
 * same, and so does each set.
 */
export function learnBias(sets: readonly (readonly Example[])[], weights: ArrayLike<number>): number {
  const scored = sets.map((set) => {
    const all = set.flatMap(({ features, grades }) =>
      features.map((each, at) => ({ score: dot(weights, each), isGood: grades[at]! > 0 })),
    );
    return [all.filter(({ isGood }) => isGood), all.filter(({ isGood }) => !isGood)] as const;
  });
  let [low, high] = [-50, 50];
  for (let step = 0; step < 50; step++) {
    const bias = (low + high) / 2;
    const mean = (part: readonly { score: number }[]) =>
      part.reduce((sum, { score }) => sum + 1 / (1 + Math.exp(-score - bias)), 0) / (part.length || 1);
    const excess = scored.reduce((sum, [good, others]) => sum + mean(good) + mean(others) - 1, 0);
    if (excess > 0) high = bias;
    else low = bias;
  }
  return low;
}

/** Training example for confidence: do the passages answer the question? */
export interface Verdict {
  readonly features: Float32Array;
  readonly isAnswered: boolean;
}

/** Weights of a logistic regression, the bias last. Both verdicts count the same, however many there are of each. */
export function learnVerdicts(verdicts: readonly Verdict[], size: number): Float64Array {
  const weights = new Float64Array(size + 1);
  const answered = verdicts.filter(({ isAnswered }) => isAnswered).length;
  for (let step = 0; step < 800; step++) {
    const gradient = new Float64Array(size + 1);
    for (const { features, isAnswered } of verdicts) {
      const error = (isAnswered ? 1 : 0) - 1 / (1 + Math.exp(-dot(weights, features) - weights[size]!));
      const share = error / (isAnswered ? answered : verdicts.length - answered);
      for (let index = 0; index < size; index++) gradient[index]! += share * features[index]!;
      gradient[size]! += share;
    }
    for (let index = 0; index < size; index++)
      weights[index]! += 3 * (gradient[index]! - 2e-4 * weights[index]!);
    weights[size]! += 3 * gradient[size]!;
  }
  return weights;
}

/** Training example for the last judge: is the quoted place right? */
export interface Judgment extends Verdict {
  /** Weight of the example among all. */
  readonly weight: number;
}

/**
 * Weights of a logistic regression, the bias last: the likelihood among examples that count by their weights. A feature may only speak for
 * an answer (sign 1), or only against it (-1), whatever the examples have by chance.
 */
export function learnLikelihood(examples: readonly Judgment[], signs: readonly (1 | -1 | 0)[]): Float64Array {
  const size = signs.length;
  const weights = new Float64Array(size + 1);
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  for (let step = 0; step < 3_000; step++) {
    const gradient = new Float64Array(size + 1);
    for (const { features, isAnswered, weight } of examples) {
      const likelihood = 1 / (1 + Math.exp(-dot(weights, features) - weights[size]!));
      const error = (weight * ((isAnswered ? 1 : 0) - likelihood)) / total;
      for (let index = 0; index < size; index++) gradient[index]! += error * features[index]!;
      gradient[size]! += error;
    }
    for (let index = 0; index < size; index++) {
      weights[index]! += 2 * (gradient[index]! - 1e-4 * weights[index]!);
      if (weights[index]! * signs[index]! < 0) weights[index] = 0;
    }
    weights[size]! += 2 * gradient[size]!;
  }
  return weights;
}

export function dot(weights: ArrayLike<number>, features: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < features.length; index++) sum += weights[index]! * features[index]!;
  return sum;
}
