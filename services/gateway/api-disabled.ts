import type { RouteOptions } from 'fastify';
import type { ErrorCode } from '#kit/errors.ts';
import { type Integration, integrationDisabled } from './integrations.ts';

/** Refuses after the body was read and before it is looked at, as an integration that is switched off does. */
export function without(
  integration: Integration,
  ...errors: ErrorCode[]
): {
  readonly options: Pick<RouteOptions, 'preValidation' | 'config'>;
  readonly handler: () => Promise<never>;
} {
  const refuse = async (): Promise<never> => {
    throw integrationDisabled(integration);
  };
  return {
    options: { preValidation: refuse, config: { errors: [...errors, integrationDisabled(integration)] } },
    handler: refuse,
  };
}
