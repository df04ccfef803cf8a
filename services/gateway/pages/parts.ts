import type { Clock } from '#kit/clock.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { Access } from '../access.ts';
import type { IntegrationChecks, Integrations } from '../integrations.ts';
import type { Posts } from '../posts.ts';
import type { StoredExports } from '../store.ts';

/** What the pages are made of: the same parts that answer the API. */
export interface PageParts {
  readonly app: HttpApp;
  readonly access: Access;
  readonly posts: Posts;
  readonly clock: Clock;
  readonly integrations: Integrations;
  /** Absent where the object store is off. */
  readonly exports: StoredExports | undefined;
  /** Whether the integrations that are on answer. */
  readonly integrationChecks: IntegrationChecks;
  readonly environment: string;
  readonly rpcAddresses: { readonly postsvc: string; readonly authsvc: string };
  /** Whether the backends answer, by the names that readiness gives them. */
  readonly checks: Readonly<Record<'postsvc' | 'authsvc', (signal: AbortSignal) => Promise<void>>>;
  /** Seals sessions and form tokens. */
  readonly secret: string;
}

/** What a session holds: the token that the API would be called with. */
export interface Ticket {
  readonly token: string;
}
