import { setFlagsFromString } from 'node:v8';

export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/**
 * Loads the engine on first use: it is 4 MB of WebAssembly. V8 optimizes a function once it has run for long enough.
 * Cedar's parser runs once and is so large that optimizing it costs 200 ms of CPU and 45 MB. Ten times the usual budget,
 * for this module only, leaves the parser alone; the code of each decision is optimized a little later.
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
