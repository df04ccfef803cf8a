import { createRequire } from 'node:module';

const require = createRequire(new URL('../peers/package.json', import.meta.url));

/** A package of `proof/bench/peers/package.json`, untyped: its types are not there in a plain checkout. Throws if it is not installed. */
// biome-ignore lint/suspicious/noExplicitAny: no types without the package
export function loadPeer(name: string): any {
  try {
    return require(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(`${name} is missing: npm ci --prefix proof/bench/peers`, { cause: error });
  }
}
