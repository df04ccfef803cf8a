import { AppError, type ErrorCode } from '@octavo/core';
import {
  BadRequest,
  ErrorInfo,
  type MessageFns,
  RetryInfo,
} from '@octavo/protocols/google/rpc/error_details';
import { type ConnectCode, codeOfStatus, connectCodes, errorCodes } from './codes.ts';

/** A Connect error as JSON: the body of a failed unary call, and `error` at the end of a stream. */
export interface WireError {
  readonly code: ConnectCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** One entry of `details` in a Connect error: a protobuf message in base64 without padding, and its JSON for people. */
export interface ErrorDetail {
  readonly type: string;
  readonly value: string;
  readonly debug?: unknown;
}

/** An error as a client received it. */
export interface ReceivedError {
  readonly error: AppError;
  /** The server says that it did nothing, so that any call may be tried at another. */
  readonly isUndone: boolean;
}

/**
 * An error as it is sent; {@link fromWire} returns the same error. The details are those of google/rpc/error_details.proto:
 * ErrorInfo with the code, the reason and whether nothing was done, BadRequest with the fields, RetryInfo with the delay.
 */
export function toWire(error: AppError, options: { isUndone?: boolean; code?: ConnectCode } = {}): WireError {
  const { isUndone = false, code = connectCodes[error.code] } = options;
  const details = [errorInfoOf(error, isUndone)];
  if (Object.keys(error.fields).length > 0) details.push(badRequestOf(error.fields));
  if (Number.isFinite(error.retryAfterSeconds)) details.push(retryInfoOf(error.retryAfterSeconds as number));
  return { code, message: error.message, details };
}

/**
 * The error of a response. `body` is its parsed JSON, whatever that is: our own error with all its parts, that of another
 * Connect server by its code, that of an overloaded HTTP server, or else what the status stands for.
 * `retryAfter` is the header of that name.
 */
export function fromWire(body: unknown, status: number, retryAfter?: string): ReceivedError {
  const { code, message, details, error: httpError } = (body ?? {}) as Record<string, unknown>;
  const isKnown = typeof code === 'string' && Object.hasOwn(errorCodes, code);
  const connectCode = isKnown ? (code as ConnectCode) : codeOfStatus(status);
  const overload = status === 503 ? textOf((httpError as WireError | undefined)?.message) : undefined;
  const text = textOf(message) ?? overload ?? `the RPC server answered ${connectCode}`;
  const { isUndone = overload !== undefined, code: ownCode, ...found } = readDetails(details);
  const retryAfterSeconds =
    found.retryAfterSeconds ?? (/^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined);
  const error = new AppError(ownCode ?? errorCodes[connectCode], text, { ...found, retryAfterSeconds });
  return { error, isUndone };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const domain = 'octavo';

const types = {
  errorInfo: 'google.rpc.ErrorInfo',
  badRequest: 'google.rpc.BadRequest',
  retryInfo: 'google.rpc.RetryInfo',
};

function errorInfoOf({ reason, code }: AppError, isUndone: boolean): ErrorDetail {
  const metadata = new Map<string, string>([['code', code]]);
  if (isUndone) metadata.set('refused', 'true');
  return detailOf(types.errorInfo, ErrorInfo, { reason: reason ?? '', domain, metadata });
}

function badRequestOf(fields: AppError['fields']): ErrorDetail {
  const violations = Object.entries(fields).map(([field, description]) => ({ field, description }));
  return detailOf(types.badRequest, BadRequest, BadRequest.fromPartial({ fieldViolations: violations }));
}

function retryInfoOf(delaySeconds: number): ErrorDetail {
  const seconds = Math.floor(delaySeconds);
  const nanos = Math.round((delaySeconds - seconds) * 1e9);
  return detailOf(types.retryInfo, RetryInfo, { retryDelay: { seconds, nanos } });
}

function detailOf<T>(type: string, codec: MessageFns<T>, message: T): ErrorDetail {
  const value = Buffer.from(codec.encode(message).finish()).toString('base64').replace(/=+$/, '');
  return { type, value, debug: codec.toJSON(message) };
}

interface FoundDetails {
  code?: ErrorCode;
  reason?: string;
  isUndone?: boolean;
  fields?: Record<string, string>;
  retryAfterSeconds?: number;
}

/** Reads the details of an error; those that are malformed or of other types are left out. */
function readDetails(details: unknown): FoundDetails {
  const result: FoundDetails = {};
  if (!Array.isArray(details)) return result;
  try {
    for (const detail of details) {
      const { type, value } = (detail ?? {}) as Partial<ErrorDetail>;
      if (typeof type !== 'string' || typeof value !== 'string') continue;
      Object.assign(result, readDetail(type, Buffer.from(value, 'base64')));
    }
    return result;
  } catch {
    return {};
  }
}

function readDetail(type: string, bytes: Buffer): FoundDetails {
  switch (type) {
    case types.errorInfo:
      return readErrorInfo(ErrorInfo.decode(bytes));
    case types.badRequest: {
      const { fieldViolations } = BadRequest.decode(bytes);
      return {
        fields: Object.fromEntries(fieldViolations.map(({ field, description }) => [field, description])),
      };
    }
    case types.retryInfo: {
      const { seconds = 0, nanos = 0 } = RetryInfo.decode(bytes).retryDelay ?? {};
      return { retryAfterSeconds: seconds + nanos / 1e9 };
    }
    default:
      return {};
  }
}

function readErrorInfo({ reason, domain: source, metadata }: ErrorInfo): FoundDetails {
  if (source !== domain) return {};
  const code = metadata.get('code');
  return {
    ...(reason && { reason }),
    ...(isErrorCode(code) && { code }),
    ...(metadata.has('refused') && { isUndone: metadata.get('refused') === 'true' }),
  };
}

function isErrorCode(text: string | undefined): text is ErrorCode {
  return text !== undefined && Object.hasOwn(connectCodes, text);
}
