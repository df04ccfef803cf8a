import { setImmediate as nextTurn } from 'node:timers/promises';

/** Counts the writes that another writer makes, one after another, while work goes on. Throws what the work throws. */
export async function writesDuring(work: Promise<unknown>, write: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  let writes = 0;
  while (!isOver) {
    await write();
    writes++;
    await nextTurn();
  }
  await ended;
  return writes;
}
