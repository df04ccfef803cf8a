import type { ChildProcess } from 'node:child_process';
import { testFolder } from '@octavo/testing';
import { startProcess, stopProcess } from '../../../apps/octavo/testing.ts';

/** A gateway for measuring, as one process or as three. */
export interface BenchGateway extends AsyncDisposable {
  readonly url: string;
  readonly headers: { readonly authorization: string };
  readonly processes: readonly ChildProcess[];
}

const password = 'a password for measuring';

/**
 * Starts it on an empty data folder, or on `dataFolder`, and signs in as its editor. Exports leave no copies, which would fill the disk
 * of a benchmark's kept data, unless the settings say otherwise.
 */
export async function startGateway(
  mode: 'one' | 'three',
  dataFolder?: string,
  settings: Readonly<Record<string, string>> = { OBJECT_STORE: 'off' },
): Promise<BenchGateway> {
  const folder = dataFolder ?? testFolder('bench');
  const environment = { OCTAVO_DATA: folder, LOG_LEVEL: 'warn', DEMO_EDITOR_PASSWORD: password, ...settings };
  const started = mode === 'one' ? await startOne(environment) : await startThree(environment);
  return {
    url: started.url,
    processes: started.processes,
    headers: { authorization: `Bearer ${await signIn(started.url)}` },
    async [Symbol.asyncDispose]() {
      for (const child of started.processes) await stopProcess(child);
    },
  };
}

type Started = { url: string; processes: ChildProcess[] };

async function startOne(environment: Record<string, string>): Promise<Started> {
  const { url, child } = await startProcess('gateway', environment);
  return { url, processes: [child] };
}

async function startThree(environment: Record<string, string>): Promise<Started> {
  const posts = await startProcess('posts', environment);
  const authz = await startProcess('authz', environment);
  const gateway = await startProcess('gateway', {
    ...environment,
    POSTSVC_ADDR: new URL(posts.url).host,
    AUTHSVC_ADDR: new URL(authz.url).host,
  });
  return { url: gateway.url, processes: [gateway.child, posts.child, authz.child] };
}

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'editor', password }),
  });
  const { data } = (await response.json()) as { data: { token: string } };
  return data.token;
}
