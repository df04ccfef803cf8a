interface Measured {
  readonly cache: WeakRef<object>;
  bytes(cache: object): number;
}

const measured = new Map<string, Set<Measured>>();

/**
 * Names a bounded cache of this process in its metrics, as long as it exists. Several may have the same name. `bytes` estimates the memory
 * that it takes, whenever metrics are read; it must not hold the cache itself.
 */
export function measureCache<T extends object>(name: string, cache: T, bytes: (cache: T) => number): void {
  const known = measured.get(name) ?? new Set();
  measured.set(name, known);
  for (const each of known) if (!each.cache.deref()) known.delete(each);
  known.add({ cache: new WeakRef(cache), bytes: (some) => bytes(some as T) });
}

/** The bytes of all caches of this process by name. */
export function cacheBytes(): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, caches] of measured) {
    let sum = 0;
    for (const each of caches) {
      const cache = each.cache.deref();
      if (cache) sum += each.bytes(cache);
    }
    sums.set(name, sum);
  }
  return sums;
}
