import type { Clock } from '#kit/clock.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { Access } from './access.ts';
import type { Permits } from './api-guard.ts';
import type { Integrations } from './integrations.ts';
import type { Posts } from './posts.ts';
import type { StoredExports } from './store.ts';

/** What the routes of the API are made of; each takes the few that it needs. */
export interface ApiParts {
  readonly app: HttpApp;
  readonly access: Access;
  readonly permits: Permits;
  readonly posts: Posts;
  readonly clock: Clock;
  readonly integrations: Integrations;
  /** Absent where the object store is off. */
  readonly exports: StoredExports | undefined;
  readonly environment: string;
  /** Where the backends are, for the status report. */
  readonly rpcAddresses: { readonly postsvc: string; readonly authsvc: string };
}
