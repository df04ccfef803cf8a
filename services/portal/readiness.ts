import type { Site, SiteReport, SiteState } from './site.ts';

const answerMs = 800;

/** Asks every service at once; one that does not answer holds up the page for at most a moment. */
export function reportOn(sites: readonly Site[]): Promise<SiteReport[]> {
  return Promise.all(sites.map(async (site) => ({ ...site, state: await stateOf(site) })));
}

async function stateOf({ url }: Site): Promise<SiteState> {
  try {
    const response = await fetch(new URL('/readiness', url), { signal: AbortSignal.timeout(answerMs) });
    await response.body?.cancel();
    return response.ok ? 'ready' : 'not ready';
  } catch {
    return 'no answer';
  }
}
