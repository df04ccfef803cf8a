/**
 * Percentages with one decimal that add up to 100.0, by largest remainder; zeros if all counts are 0.
 * @param counts whole numbers; of equal remainders, the first gets the rest
 */
export function percentages(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, each) => sum + each, 0);
  if (total === 0) return counts.map(() => 0);
  const tenths = counts.map((each) => Math.floor((each * 1_000) / total));
  const remainders = counts.map((each) => (each * 1_000) % total);
  const rest = 1_000 - tenths.reduce((sum, each) => sum + each, 0);
  const byRemainder = remainders
    .map((remainder, index) => ({ remainder, index }))
    .sort((one, other) => other.remainder - one.remainder);
  for (const { index } of byRemainder.slice(0, rest)) tenths[index] = (tenths[index] ?? 0) + 1;
  return tenths.map((each) => each / 10);
}
