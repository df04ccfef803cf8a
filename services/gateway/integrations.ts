import { AppError } from '#kit/errors.ts';

export const integrationNames = [
  'objectStore',
  'messageBroker',
  'eventStream',
  'inferenceServer',
  'cache',
  'tracing',
] as const;
export type Integration = (typeof integrationNames)[number];

/** Which optional parts are enabled; whether each answers is another question. */
export type Integrations = Readonly<Record<Integration, boolean>>;

type Check = (signal: AbortSignal) => Promise<void>;

/** For those that are on: throws where it does not answer. */
export type IntegrationChecks = Readonly<Partial<Record<Integration, Check>>>;

export function integrationDisabled(integration: Integration): AppError {
  return new AppError('unavailable', `This needs the integration ${integration}, which is not enabled.`, {
    reason: 'INTEGRATION_DISABLED',
    fields: { integration },
    retryAfterSeconds: Number.POSITIVE_INFINITY,
  });
}
