/** Log odds of a likelihood, as far as it is sure. */
export function logit(score: number): number {
  const within = Math.min(0.999, Math.max(0.001, score));
  return Math.log(within / (1 - within));
}
