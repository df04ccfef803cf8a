import type { DemoSignIn } from '#kit/service.ts';

/** A service that can be opened. */
export interface Site {
  readonly name: string;
  /** One sentence; empty where only the address is known. */
  readonly summary: string;
  readonly url: string;
  /** How a newcomer gets in. */
  readonly signIn?: string | undefined;
}

/** A demo account of a service. */
export interface SignIn extends DemoSignIn {
  readonly service: string;
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

/** Reads `name=https://…,name=https://…`. Throws an `Error` that starts with "must be". */
export function parseSites(text: string): Site[] {
  const sites = text.split(',').map((entry) => {
    const [, name, address = ''] = /^\s*([\w-]+)=(\S+)\s*$/.exec(entry) ?? [];
    const url = URL.parse(address);
    if (
      name === undefined ||
      !url ||
      !['http:', 'https:'].includes(url.protocol) ||
      url.username ||
      url.password
    )
      throw new Error('must be name=https://... of each service, with commas between');
    return { name, summary: '', url: url.href.replace(/\/$/, '') };
  });
  if (new Set(sites.map(({ name }) => name)).size < sites.length)
    throw new Error('must be names that differ');
  return sites;
}
