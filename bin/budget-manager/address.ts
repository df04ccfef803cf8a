import { Failure } from './failure.ts';
import type { Arguments } from './options.ts';

const addressWithAll = 'http://127.0.0.1:3006';
const addressAlone = 'http://127.0.0.1:3000';
const probeMs = 1_000;

/** `--url`, `BUDGET_MANAGER_URL`, or this machine: port 3006 if budgets answers there, as with `octavo up`, else 3000. */
export async function findAddress(options: Arguments['options']): Promise<string> {
  const given = typeof options.url === 'string' ? options.url : process.env.BUDGET_MANAGER_URL;
  if (given) return checkAddress(given);
  return (await isBudgets(addressWithAll)) ? addressWithAll : addressAlone;
}

function checkAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/$/, '');
  throw new Failure('usage', `The address "${text}" must start with http:// or https://.`);
}

async function isBudgets(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/api/budgets`, { signal: AbortSignal.timeout(probeMs) });
    await response.body?.cancel();
    // Without a token, the list of budgets exists and is refused.
    return response.status === 401;
  } catch {
    return false;
  }
}
