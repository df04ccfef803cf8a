import type { RouteOptions } from 'fastify';
import type { ErrorCode } from '#kit/errors.ts';
import { type Integration, integrationDisabled } from './integrations.ts';

/** Refuses after the body was read and before it is looked at, as an integration that is switched off does. */
export function without(
  integration: Integration,
  ...errors: ErrorCode[]
): Pick<RouteOptions, 'preValidation' | 'handler' | 'config'> {
  const refuse = async () => {
    throw integrationDisabled(integration);
  };
  return {
    preValidation: refuse,
    handler: refuse,
    config: { errors: [...errors, integrationDisabled(integration)] },
  };
}
