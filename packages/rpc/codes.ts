import type { ErrorCode } from '@octavo/core';

/** The error codes of the Connect protocol (and of gRPC), https://connectrpc.com/docs/protocol#error-codes */
export type ConnectCode =
  | 'canceled'
  | 'unknown'
  | 'invalid_argument'
  | 'deadline_exceeded'
  | 'not_found'
  | 'already_exists'
  | 'permission_denied'
  | 'resource_exhausted'
  | 'failed_precondition'
  | 'aborted'
  | 'out_of_range'
  | 'unimplemented'
  | 'internal'
  | 'unavailable'
  | 'data_loss'
  | 'unauthenticated';

/** The Connect code of each of our codes, for clients that do not read our error details. */
export const connectCodes: Readonly<Record<ErrorCode, ConnectCode>> = {
  invalid_input: 'invalid_argument',
  unauthenticated: 'unauthenticated',
  forbidden: 'permission_denied',
  not_found: 'not_found',
  method_not_allowed: 'unimplemented',
  conflict: 'already_exists',
  precondition_failed: 'failed_precondition',
  range_not_satisfiable: 'out_of_range',
  too_large: 'resource_exhausted',
  unsupported_media_type: 'unimplemented',
  validation_failed: 'invalid_argument',
  unprocessable: 'invalid_argument',
  locked: 'failed_precondition',
  rate_limited: 'resource_exhausted',
  not_implemented: 'unimplemented',
  unavailable: 'unavailable',
  timeout: 'deadline_exceeded',
  canceled: 'canceled',
  internal: 'internal',
};

/** Our code of each Connect code that came without our error details. */
export const errorCodes: Readonly<Record<ConnectCode, ErrorCode>> = {
  canceled: 'canceled',
  unknown: 'internal',
  invalid_argument: 'invalid_input',
  deadline_exceeded: 'timeout',
  not_found: 'not_found',
  already_exists: 'conflict',
  permission_denied: 'forbidden',
  resource_exhausted: 'rate_limited',
  failed_precondition: 'precondition_failed',
  aborted: 'conflict',
  out_of_range: 'invalid_input',
  unimplemented: 'internal',
  internal: 'internal',
  unavailable: 'unavailable',
  data_loss: 'internal',
  unauthenticated: 'unauthenticated',
};

/** The HTTP status of a unary error response with each Connect code. */
export const httpStatuses: Readonly<Record<ConnectCode, number>> = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401,
};

/** The Connect code of an error response that has no Connect error in its body, such as that of a proxy. */
export function codeOfStatus(status: number): ConnectCode {
  return codesByStatus[status] ?? 'unknown';
}

const codesByStatus: Readonly<Record<number, ConnectCode>> = {
  400: 'internal',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};
