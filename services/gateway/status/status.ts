import type { Clock } from '@octavo/core';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';

/** Addresses of the backends: `host:port` or `in-process`. */
export interface RpcAddresses {
  readonly postsvc: string;
  readonly authsvc: string;
}

export type BackendChecks = Readonly<Record<keyof RpcAddresses, (signal: AbortSignal) => Promise<void>>>;

/**
 * Each asks whether the backend can do its work, its database included. One that does not respond at once is asked again, which
 * goes to another replica if there is one.
 */
export function backendChecks(
  posts: Client<PostServiceDefinition>,
  authz: Client<AuthServiceDefinition>,
): BackendChecks {
  return {
    postsvc: (signal) => askTwice((timeoutMs) => posts.ping({}, { signal, timeoutMs })),
    authsvc: (signal) => askTwice((timeoutMs) => authz.ping({}, { signal, timeoutMs })),
  };
}

/** Readiness waits for both. */
const askTimeoutMs = 190;

async function askTwice(ask: (timeoutMs: number) => Promise<unknown>): Promise<void> {
  try {
    await ask(askTimeoutMs);
  } catch {
    await ask(askTimeoutMs);
  }
}

/** Gives the time since it was created, such as `72h3m0.5s`. */
export function createUptime(clock: Clock): () => string {
  const startedMs = clock.now();
  return () => uptimeText(clock.now() - startedMs);
}

/** A duration such as `72h3m0.5s`, or `500ms` if it is below a second. */
export function uptimeText(ms: number): string {
  const whole = Math.floor(ms);
  if (whole > 0 && whole < 1_000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = `${(whole % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
