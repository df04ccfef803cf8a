import type { ChildProcess } from 'node:child_process';
import { testFolder } from '@octavo/testing';
import { startProcess, stopProcess } from '../../../apps/octavo/testing.ts';

/** The service in a process of its own, with one account. */
export interface BudgetsProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  readonly folder: string;
  /** Signs requests. */
  readonly headers: Record<string, string>;
}

export const grpcPort = 50_971;

/** Starts the service without limits of requests, and registers a user. */
export async function startBudgetsProcess(
  folder = testFolder('bench'),
  settings: Record<string, string> = {},
): Promise<BudgetsProcess> {
  const environment = {
    OCTAVO_DATA: folder,
    LOG_LEVEL: 'warn',
    NODE_ENV: 'development',
    GRPC_PORT: String(grpcPort),
    BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
    BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
    ...settings,
  };
  const { url, child } = await startProcess('budgets', environment);
  const headers = await register(url, `alice-${Date.now()}@example.com`);
  return { url, child, folder, headers, [Symbol.asyncDispose]: () => stopProcess(child) };
}

/** Settings for benchmarks with many accounts and without gRPC: passwords that cost little, and any port. */
export const light = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', GRPC_PORT: '0' };

const password = 'ferries wait in fog';

/** Registers an account, and returns what signs its requests. */
export function register(url: string, email: string): Promise<Record<string, string>> {
  return authorize(`${url}/api/auth/register`, email);
}

/** Signs in to an account of an earlier start. */
export function signIn(url: string, email: string): Promise<Record<string, string>> {
  return authorize(`${url}/api/auth/login`, email);
}

async function authorize(url: string, email: string): Promise<Record<string, string>> {
  const { token } = (await send(url, { body: { email, password } })) as { token: string };
  return { authorization: `Bearer ${token}` };
}

export async function addBudgets({ url, headers }: BudgetsProcess, count: number): Promise<string> {
  let id = '';
  for (let index = 0; index < count; index++) {
    const body = { name: `Budget ${index}`, limit: 100 + index, period: 'monthly' };
    ({ id } = (await send(`${url}/api/budgets`, { headers, body })) as { id: string });
  }
  return id;
}

/** Sends JSON and returns what comes back. */
export async function send(
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<unknown> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
