import type { SuiteSite } from '@octavo/core';
import type { DemoSignIn } from '@octavo/data/service';

/** A demo account of a service. */
export interface SignIn extends DemoSignIn {
  readonly service: string;
}

/** The part of the one sign-in that the portal uses. */
export interface SuiteSignIn {
  /** A one-time address that signs a visitor in to a demo account and leads on to `target`. */
  demoAddress(role: DemoRole, target: string): string;
  /** An access token of a demo account for the service with this address. Undefined if the service takes none. */
  demoToken(role: DemoRole, audience: string): Promise<string | undefined>;
}

/** Ways into a service besides its address. */
export interface Entrances {
  /** True if it has an admin at `/admin/`. */
  readonly hasAdmin: boolean;
}

export const demoRoles = ['administrator', 'editor', 'reader'] as const;

export type DemoRole = (typeof demoRoles)[number];

export interface SiteReport extends SuiteSite {
  readonly state: 'ready' | 'not ready' | 'no response';
  /** Names of the dependencies that fail, such as `database`. */
  readonly failing: readonly string[];
}

const timeoutMs = 800;

/** Asks all services at once whether they are ready. One that does not respond delays the page by at most `timeoutMs`. */
export function reportOn(sites: readonly SuiteSite[]): Promise<SiteReport[]> {
  return Promise.all(sites.map(async (site) => ({ ...site, ...(await stateOf(site)) })));
}

async function stateOf({ url }: SuiteSite): Promise<Pick<SiteReport, 'state' | 'failing'>> {
  try {
    const response = await fetch(new URL('/readiness', url), { signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) {
      await response.body?.cancel();
      return { state: 'ready', failing: [] };
    }
    return { state: 'not ready', failing: failingIn(await response.text()) };
  } catch {
    return { state: 'no response', failing: [] };
  }
}

/** Names of the checks that fail in the body of a readiness probe, in either of the shapes that services have. */
function failingIn(body: string): string[] {
  try {
    const { checks = {} } = JSON.parse(body) as { checks?: Record<string, unknown> };
    return Object.entries(checks).flatMap(([name, verdict]) => (verdict === 'ok' ? [] : [name]));
  } catch {
    return [];
  }
}
