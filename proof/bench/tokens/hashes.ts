import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { hash, verify } from '@node-rs/argon2';

/** Bare argon2id verifications a second on all processors, at the cost that sign-ins have. */
const seconds = Number(process.argv[2]);
const hashed = await hash('a password for measuring', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
let [count, isOver] = [0, false];
const startMs = performance.now();
const lanes = Array.from({ length: availableParallelism() }, async () => {
  while (!isOver) {
    await verify(hashed, 'a password for measuring');
    count++;
  }
});
await setTimeout(seconds * 1_000);
const perSecond = (count * 1_000) / (performance.now() - startMs);
isOver = true;
await Promise.all(lanes);
process.send?.(perSecond);
