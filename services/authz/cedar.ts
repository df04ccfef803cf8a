import { setFlagsFromString } from 'node:v8';

export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/**
 * Loads the engine, on first use only: it is 4 MB of WebAssembly. V8 counts how much a function ran before it
 * optimises it, and Cedar's parser, which we need once, is so large that optimising it costs 200 ms of processor time
 * and 45 MB. Ten times the usual allowance, for this module only, leaves the parser as it is; what each
 * decision runs is optimised a little later.
 */
export async function loadCedar(): Promise<Cedar> {
  setFlagsFromString(`--wasm-tiering-budget=${10 * usualBudget}`);
  try {
    return await import('@cedar-policy/cedar-wasm/nodejs');
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`);
  }
}

// V8's default: `node --v8-options`.
const usualBudget = 13_000_000;
