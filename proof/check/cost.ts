/** Programs that a test file starts, as its name says. */
export type Cost = 'one process' | 'processes' | 'a browser';

/** Returns the cost of a test file: `x.process.test.ts` starts processes, `x.browser.test.ts` a browser. */
export function costOf(file: string): Cost {
  if (file.endsWith('.browser.test.ts')) return 'a browser';
  return file.endsWith('.process.test.ts') ? 'processes' : 'one process';
}
