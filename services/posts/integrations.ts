import { AppError, problemOf as describe } from '@octavo/core';

/** Resolves if an integration answers. */
export type Check = (signal: AbortSignal) => Promise<void>;

/** Callers of `CheckIntegrations` wait a little longer than this. */
const checkTimeoutMs = 300;

/** Returns the problem of each integration, in words for callers; empty if it responds. */
export function checkAll(
  checks: Readonly<Record<string, Check>>,
  signal: AbortSignal,
): Promise<{ name: string; problem: string }[]> {
  const states = Object.entries(checks).map(async ([name, check]) => ({
    name,
    problem: await problemOf(check, signal),
  }));
  return Promise.all(states);
}

export function switchedOff(integration: string): AppError {
  return new AppError('unavailable', `The integration ${integration} is not enabled.`, {
    reason: 'INTEGRATION_DISABLED',
    fields: { integration },
  });
}

/** A check that ignores its signal is late, too. */
async function problemOf(check: Check, signal: AbortSignal): Promise<string> {
  const late = AbortSignal.timeout(checkTimeoutMs);
  const tooLate = new Promise<string>((resolve) => {
    late.addEventListener('abort', () => resolve(`no answer within ${checkTimeoutMs} ms`));
  });
  const checked = check(AbortSignal.any([signal, late])).then(
    () => '',
    (error) => describe(error),
  );
  return Promise.race([checked, tooLate]);
}
