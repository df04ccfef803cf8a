import type { AppError, ErrorCode } from '@octavo/core';

/** Values of `extensions.code` of an error. */
export type Code =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'VALIDATION_FAILED'
  | 'CONFLICT'
  | 'QUERY_TOO_COMPLEX'
  | 'INTERNAL';

const codes: Partial<Record<ErrorCode, Code>> = {
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  invalid_input: 'VALIDATION_FAILED',
  validation_failed: 'VALIDATION_FAILED',
  conflict: 'CONFLICT',
  precondition_failed: 'CONFLICT',
  method_not_allowed: 'VALIDATION_FAILED',
  unsupported_media_type: 'VALIDATION_FAILED',
  too_large: 'QUERY_TOO_COMPLEX',
  rate_limited: 'FORBIDDEN',
};

/** The code of an error of our rules. */
export function codeOf({ code }: AppError): Code {
  return codes[code] ?? 'INTERNAL';
}
