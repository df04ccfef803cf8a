import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { DenseIndex, DenseScanner } from '../../../services/chat/retrieval/dense/index-of-vectors.ts';

const searches = 40;
const nearest = 60;

/**
 * Measures a search by the vectors of an embedding service, beside 32-bit floats in the same loop: time, memory, and the wait
 * of others.
 */
export async function measureVectors(count: number, dimensions: number): Promise<void> {
  await using scanner = new DenseScanner();
  const index = new DenseIndex(scanner, dimensions);
  const exact: Float32Array[] = [];
  const before = process.memoryUsage.rss();
  for (let id = 0; id < count; id++) index.add(id, Math.floor(id / 50), randomVector(dimensions));
  console.log(`${count} x ${dimensions}: ${((process.memoryUsage.rss() - before) / 1e6).toFixed(0)} MB`);
  for (let id = 0; id < count / 10; id++) exact.push(randomVector(dimensions));
  await index.nearest(randomVector(dimensions), nearest);
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  const times: number[] = [];
  for (let round = 0; round < searches; round++) {
    const question = randomVector(dimensions);
    const startMs = performance.now();
    await index.nearest(question, nearest);
    times.push(performance.now() - startMs);
    await delay(5);
  }
  lag.disable();
  times.sort((one, other) => one - other);
  const [p50, p95] = [0.5, 0.95].map((share) => times[Math.floor(times.length * share)]?.toFixed(0));
  console.log(`p50 ${p50} ms, p95 ${p95} ms; the loop waited at most ${(lag.max / 1e6).toFixed(1)} ms`);
  const question = randomVector(dimensions);
  const startMs = performance.now();
  let best = 0;
  for (const vector of exact) best = Math.max(best, product(vector, question));
  const floatMs = (performance.now() - startMs) * 10;
  console.log(
    `32-bit floats: ${floatMs.toFixed(0)} ms of the loop (a tenth of them, times 10); best ${best.toFixed(2)}`,
  );
}

function product(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}

function randomVector(dimensions: number): Float32Array {
  const values = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const length = Math.sqrt(product(values, values));
  return values.map((value) => value / length);
}
