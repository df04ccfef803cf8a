import { appendFileSync } from 'node:fs';

/** Measures several ways in turn, round after round, and gives the best of each: the machine may have other work. */
export async function bests(
  ways: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
): Promise<Record<string, number>> {
  const found = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(ways)) found[name]?.push(await measure());
  }
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, Math.max(...values)]));
}

/** Adds a comparison to the report of `proof/bench/peers.ts`, if it runs this benchmark: rates by name, ours first. */
export function report(title: string, figures: Readonly<Record<string, number>>): void {
  const file = process.env.BENCH_REPORT;
  if (file) appendFileSync(file, `${JSON.stringify({ title, figures })}\n`);
}

/** Prints a rate beside those of its floor and of its peer, all by their names in `found`. */
export function say(
  title: string,
  found: Readonly<Record<string, number>>,
  [own, floor, peer]: [string, string, string],
): void {
  const of = (name: string) => found[name] ?? 0;
  report(title, { ours: of(own), [floor]: of(floor), [peer]: of(peer) });
  console.log(
    `${title}: ${of(own).toFixed(0)}/s; ${floor} ${of(floor).toFixed(0)}/s, ${(of(own) / of(floor)).toFixed(2)} of it; ` +
      `${peer} ${of(peer).toFixed(0)}/s, ${(of(own) / of(peer)).toFixed(1)} times`,
  );
}
