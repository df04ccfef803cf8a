import { platform, setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Classification } from './classifier.ts';
import { loadModel } from './sentiment/model.ts';

// The entry of the worker thread that the shipped model runs on, for `classifier-thread.ts`.

/** A slice of the texts that wait. It is answered before the next one is looked at. */
export interface Slice {
  readonly id: number;
  readonly texts: readonly string[];
}

export interface ClassifiedSlice {
  readonly id: number;
  readonly classifications: Classification[];
}

const niceness = 3;

if (parentPort) serve(parentPort);

function serve(port: MessagePort): void {
  // A little behind what waits for a request, not so far that a busy machine never comes to it. Only on Linux a thread has a
  // priority of its own.
  if (platform() === 'linux') setPriority(niceness);
  const model = loadModel();
  port.on('message', ({ id, texts }: Slice) => {
    const answer: ClassifiedSlice = { id, classifications: texts.map((text) => model.classify(text)) };
    port.postMessage(answer);
  });
}
