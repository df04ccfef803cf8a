import { Gauge, type Registry } from 'prom-client';
import type { IntegrationChecks } from './integrations.ts';

const answerMs = 400;
const freshMs = 1_000;

/** Shows whether the integrations that are on answer, looked up at most once a second. */
export function addIntegrationFigures(registry: Registry, checks: IntegrationChecks): void {
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  new Gauge({
    name: 'integration_up',
    help: 'Whether an integration that is on answers (1) or not (0).',
    labelNames: ['integration'],
    registers: [registry],
    async collect() {
      if (performance.now() - lookedAtMs < freshMs) return;
      lookedAtMs = performance.now();
      const asked = Object.entries(checks).map(async ([integration, check]) => {
        this.set({ integration }, (await answers(check)) ? 1 : 0);
      });
      await Promise.all(asked);
    },
  });
}

/** Whether what a check asks answers in time, which even a check that heeds no signal cannot hold up. */
export async function answers(check: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  const signal = AbortSignal.timeout(answerMs);
  const late = new Promise<boolean>((resolve) => {
    signal.addEventListener('abort', () => resolve(false));
  });
  const asked = check(signal).then(
    () => true,
    () => false,
  );
  return Promise.race([asked, late]);
}
