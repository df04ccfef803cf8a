/** A service that can be opened. */
export interface Site {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly url: string;
}

export interface SiteReport extends Site {
  readonly state: 'ready' | 'not ready' | 'no response';
}

const timeoutMs = 800;

/** Asks all services at once whether they are ready. One that does not respond delays the page by at most `timeoutMs`. */
export function reportOn(sites: readonly Site[]): Promise<SiteReport[]> {
  return Promise.all(sites.map(async (site) => ({ ...site, state: await stateOf(site) })));
}

async function stateOf({ url }: Site): Promise<SiteReport['state']> {
  try {
    const response = await fetch(new URL('/readiness', url), { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.ok ? 'ready' : 'not ready';
  } catch {
    return 'no response';
  }
}
